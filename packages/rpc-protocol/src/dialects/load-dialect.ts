import type { Dialect } from "./dialect.ts";
import type { ProtocolName } from "./names.ts";
import { pi } from "./pi.ts";

/** The dialect of a name. All but the default are loaded only when they are asked for. */
export async function loadDialect(name: ProtocolName): Promise<Dialect> {
  switch (name) {
    case "pi":
      return pi;
    case "pi-1":
      return (await import("./pi-1.ts")).pi1;
    case "pisces":
      return (await import("./pisces.ts")).pisces;
    case "oh-my-pi":
      return (await import("./oh-my-pi.ts")).ohMyPi;
    case "co-mono":
      return (await import("./co-mono.ts")).coMono;
    case "pi-rust":
      return (await import("./pi-rust.ts")).piRust;
  }
}
