import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join, normalize } from "node:path";
import { HarnessError, type HarnessV1Skill } from "@ai-sdk/harness";

/** Writes skills to a folder that the host reads; the folder is named after a hash of their content. */
export async function writeSkills(
  skills: readonly HarnessV1Skill[],
  sessionId: string,
): Promise<string[]> {
  if (skills.length === 0) return [];
  const digest = createHash("sha256")
    .update(JSON.stringify([sessionId, skills]))
    .digest("hex");
  const root = join(tmpdir(), `tau-harness-${userInfo().uid}`, digest.slice(0, 16));
  const folders: string[] = [];
  for (const { name, description, content, files = [] } of skills) {
    if (!/^[\w-]+$/.test(name))
      throw new HarnessError({ message: `${name} is not a valid skill name` });
    const folder = join(root, name);
    const head = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n`;
    await write(folder, "SKILL.md", head + content);
    for (const file of files) await write(folder, file.path, file.content);
    folders.push(folder);
  }
  return folders;
}

async function write(folder: string, path: string, content: string): Promise<void> {
  const inside = normalize(path);
  if (inside.startsWith("..") || inside.startsWith("/") || inside.includes("\\")) {
    throw new HarnessError({ message: `The file ${path} of a skill lies outside of it` });
  }
  const target = join(folder, inside);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await writeFile(target, content, { mode: 0o600 });
}
