import type { Diagnostic } from "@tau-agent/system";
import { cleanLine } from "../names/clean-text.ts";

/** The endless log of a server must not fill the host's memory. */
const MAX_LOGGED = 100;
const MAX_NOTED = 1000;
const MAX_LENGTH = 1000;
const errorLevels: ReadonlySet<string> = new Set(["error", "critical", "alert", "emergency"]);

/** Turns log messages and problems of servers into diagnostics, up to a limit. */
export class ServerNotes {
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #noted = new Set<string>();
  readonly #logged = new Map<string, number>();

  constructor(report: (diagnostic: Diagnostic) => void) {
    this.#report = report;
  }

  log(server: string, level: string, text: string): void {
    if (level === "debug") return;
    const count = (this.#logged.get(server) ?? 0) + 1;
    this.#logged.set(server, count);
    if (count > MAX_LOGGED) return;
    const message = `MCP server ${server} (${level}): ${cleanLine(text, MAX_LENGTH)}`;
    const severity = errorLevels.has(level) ? "error" : "warning";
    this.#report({ severity, code: "mcp_log", message });
  }

  /** Reports a text about a server only once, because its lists are read repeatedly. */
  add(server: string, text: string): void {
    const message = `MCP server ${server} ${cleanLine(text, MAX_LENGTH)}`;
    if (this.#noted.has(message) || this.#noted.size > MAX_NOTED) return;
    this.#noted.add(message);
    this.#report({ severity: "warning", code: "mcp_server", message });
  }
}
