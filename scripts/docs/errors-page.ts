import { errorTable } from "../../packages/rpc-protocol/src/index.ts";
import { code, generated, table } from "./markdown.ts";

/** `docs/errors.md`: every error code with its text. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([name, { message, retryable }]) => [
    code(name),
    message.replaceAll("|", "\\|"),
    retryable ? "may succeed later" : "",
  ]);
  return [
    generated("Errors"),
    "What `error` of a failed response says, and the `code` it has after `initialize`. Words in",
    "braces are filled in. A client decides by `code`; the texts may gain words.\n",
    table(["Code", "Text", "The same request"], rows),
  ].join("\n");
}
