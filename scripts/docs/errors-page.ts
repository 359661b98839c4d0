import { errorTable } from "../../packages/rpc-protocol/src/index.ts";
import { code, generated, table } from "./markdown.ts";

/** `docs/errors.md`: every error code with its text. */
export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([name, { message, retryable }]) => [
    code(name),
    message,
    retryable ? "may succeed later" : "",
  ]);
  return [
    generated("Errors"),
    "The `error` texts of failed responses, and their `code` after `initialize`. Names in braces are",
    "placeholders. Decide by `code`; the texts may be extended.\n",
    table(["Code", "Text", "The same request"], rows),
  ].join("\n");
}
