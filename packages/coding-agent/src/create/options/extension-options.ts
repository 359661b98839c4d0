import type { ExtensionUiRequest } from "@tau-agent/rpc-protocol";
import type { ExtensionFactory } from "../../extensions/api/api.ts";
import type { HostModules } from "../../extensions/load/host-imports.ts";
import type { InlineFactory } from "../../extensions/load/load.ts";

/** A `boolean` flag takes no value. */
type FlagType = "boolean" | "string";

/** Which extensions to load, and what they get. */
export interface ExtensionOptions {
  /** Files or folders, relative to the options' `cwd`; always loaded. */
  readonly paths?: readonly string[] | undefined;
  /** Whether to load only the extensions that `paths` names. */
  readonly onlyNamed?: boolean | undefined;
  /** The modules that replace imports of pi's packages; called when the first extension is loaded. */
  readonly hostModules: () => Promise<HostModules>;
  /** Extensions given as functions, which are loaded after those from files. */
  readonly factories?: readonly (InlineFactory | ExtensionFactory)[] | undefined;
  /** Values for flags that extensions define, by name without dashes. */
  readonly flagValues?: ReadonlyMap<string, string | true> | undefined;
  /**
   * Called once the extensions are loaded at the start, with their declared flags by name. An exception here fails the
   * start.
   */
  readonly onFlags?: ((flags: ReadonlyMap<string, FlagType>) => void) | undefined;
  /** The mode that extensions see; default `rpc`. */
  readonly mode?: "rpc" | "json" | "print" | undefined;
  /** Sends dialogs and notices to a client; without it there is no user interface. */
  readonly sendUiRequest?: ((request: ExtensionUiRequest) => void) | undefined;
  /** Shows notices of extensions if there is no client. */
  readonly showNotice?: ((message: string, type: "info" | "warning" | "error") => void) | undefined;
  /** Ends the host when an extension asks for it; without it the request is ignored. */
  readonly onShutdown?: (() => void) | undefined;
}
