import { exitCodes } from "../../apps/cli/src/process/exit-codes.ts";
import { modelErrorTable } from "../../packages/rpc-protocol/src/entry/plain.ts";
import { errorTable } from "../../packages/rpc-protocol/src/index.ts";
import { code, generated, table } from "./markdown.ts";

export function errorsPage(): string {
  const row = (name: string, text: string, retryable: boolean) => [
    code(name),
    text,
    retryable ? "may succeed later" : "",
  ];
  const rows = Object.entries(errorTable).map(([name, { message, retryable }]) =>
    row(name, message, retryable),
  );
  const modelRows = Object.entries(modelErrorTable).map(([name, { meaning, retryable }]) =>
    row(name, meaning, retryable),
  );
  return [
    generated("Errors"),
    "The `error` texts of failed responses, and their `code` after `initialize`. Names in braces are",
    "placeholders. Decide by `code`; the texts may be extended.\n",
    table(["Code", "Text", "The same request"], rows),
    "## Failed prompts\n",
    "`prompt_result` has a `code` when its `status` is `error`: one of those above, such as",
    "`session_write_failed`, or, if a request to the model failed, one of these. The host has retried what",
    "may succeed later, as `retry` in the settings says.\n",
    table(["Code", "Meaning", "The same prompt"], modelRows),
    "## Exit codes\n",
    "`tau` ends with one of these, or with 128 + n after the signal n; `tau help exit-codes` prints them.\n",
    table(
      ["Exit code", "Meaning", "Code of the error"],
      exitCodes.map(({ exitCode, meaning, errorCodes = [] }) => [
        String(exitCode),
        meaning,
        errorCodes.map(code).join(", "),
      ]),
    ),
  ].join("\n");
}
