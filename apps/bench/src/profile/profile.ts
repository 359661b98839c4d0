import { limits } from "../comparison/limits.ts";
import { scenarios } from "../comparison/scenarios/index.ts";
import { plainTau } from "./plain-host.ts";
import { profileText, writeProfilePage } from "./profile-page.ts";
import { profileRows, type RowProfile } from "./profile-rows.ts";

/**
 * Profiles the named rows and prints the results, or profiles the rows with a known limit and writes the page.
 *
 * @returns the path of the page, if it was written
 */
export async function profile(only: readonly string[] | undefined): Promise<string | undefined> {
  const contestant = plainTau();
  const profiles: RowProfile[] = [];
  for (const scenario of scenarios) {
    const names = Object.keys(scenario.rows);
    const rows = names.filter((name) => only?.includes(name) ?? limits[name] !== undefined);
    if (rows.length === 0) continue;
    for (const found of await profileRows(scenario, rows, contestant)) {
      console.log(profileText(found));
      profiles.push(found);
    }
  }
  return only ? undefined : writeProfilePage(profiles);
}
