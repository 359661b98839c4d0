import { arch, platform } from "node:os";
import type { EnvironmentFacts } from "@tau-agent/sessions/log";

export function currentEnvironment(): EnvironmentFacts {
  const now = new Date();
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return {
    date: date.map((part) => String(part).padStart(2, "0")).join("-"),
    platform: `${platform()} ${arch()}`,
  };
}
