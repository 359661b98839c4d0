import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";
import type { ExtensionFactory } from "../../extensions/api/api.ts";
import type { HostModules } from "../../extensions/load/host-imports.ts";
import type { InlineFactory } from "../../extensions/load/load.ts";

/** A switch takes no value. */
type FlagType = "boolean" | "string";

/** Which extensions to load. */
export interface ExtensionOptions {
  /** Files or folders, relative to the options' `cwd`; always loaded. */
  readonly paths?: readonly string[] | undefined;
  /** Loads only what `paths` names. */
  readonly onlyNamed?: boolean | undefined;
  /** Modules that imports of pi's packages resolve to; requested with the first extension. */
  readonly hostModules: () => Promise<HostModules>;
  /** Extensions given as functions; they come after those from files. */
  readonly factories?: readonly (InlineFactory | ExtensionFactory)[] | undefined;
  /** Values for flags that extensions define, by name without dashes. */
  readonly flagValues?: ReadonlyMap<string, string | true> | undefined;
  /**
   * Called once the extensions of the start are loaded, with the flags they declare by name. What it
   * throws ends the start.
   */
  readonly onFlags?: ((flags: ReadonlyMap<string, FlagType>) => void) | undefined;
  /** The mode that extensions see; default `rpc`. */
  readonly mode?: "rpc" | "json" | "print" | undefined;
  /** Sends dialogs and notices to a client; without it there is no user interface. */
  readonly sendUiRequest?: ((request: ExtensionUiRequest) => void) | undefined;
  /** Shows notices of extensions where there is no client. */
  readonly showNotice?: ((message: string, type: "info" | "warning" | "error") => void) | undefined;
  /** Ends the host if an extension asks for it; without it the request is ignored. */
  readonly onShutdown?: (() => void) | undefined;
}
