import { EpochGuard } from "./epoch-guard.ts";
import { KeptCommands } from "./keeper/kept-commands.ts";

/** What this machine offers to sessions that outlive their hosts. */
export interface Durability {
  readonly guard: EpochGuard;
  readonly keeper: KeptCommands;
}

export function openDurability(
  temporaryDirectory: string,
  variables: Readonly<Record<string, string | undefined>>,
): Durability {
  const guard = new EpochGuard(temporaryDirectory);
  return { guard, keeper: new KeptCommands(guard, variables) };
}
