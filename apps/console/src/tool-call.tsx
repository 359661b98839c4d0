import type { Markup } from "@tau-agent/rpc-client/markup";
import type { ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { useMemo, useState } from "preact/hooks";
import { subjectOf } from "./format.ts";

/** Only the end of a longer output is shown. */
const MAX_OUTPUT = 20_000;

interface ToolCallProps {
  readonly call: ToolCall;
  readonly result: ToolResultMessage | undefined;
  /** The output of a running call so far. */
  readonly output: string | undefined;
  readonly markup: Markup;
}

export function ToolCallView({ call, result, output, markup }: ToolCallProps) {
  const [isOpen, setOpen] = useState(false);
  const diff = diffOf(result?.details);
  const state = result === undefined ? "running" : result.isError ? "failed" : "done";
  return (
    <section class={`call ${state}`}>
      <button type="button" class="head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="mark" role="img" aria-label={state} />
        <b>{call.name}</b>
        <code>{subjectOf(call.arguments)}</code>
      </button>
      {diff !== undefined && <Diff diff={diff} markup={markup} />}
      {isOpen && (
        <>
          {diff === undefined && <pre class="input">{JSON.stringify(call.arguments, null, 2)}</pre>}
          <pre class="output">{endOf(result === undefined ? (output ?? "") : textOf(result))}</pre>
        </>
      )}
      {!isOpen && result?.isError === true && (
        <pre class="output">{firstLines(textOf(result))}</pre>
      )}
    </section>
  );
}

/** A unified diff as coloured lines. */
export function Diff({ diff, markup }: { readonly diff: string; readonly markup: Markup }) {
  const html = useMemo(() => markup.diff(diff), [diff]);
  return <div class="diff-view" dangerouslySetInnerHTML={{ __html: html }} />;
}

function diffOf(details: unknown): string | undefined {
  const { diff, patch } = Object(details) as { diff?: unknown; patch?: unknown };
  const found = [diff, patch].find((text) => typeof text === "string" && text !== "");
  return found as string | undefined;
}

function textOf({ content }: ToolResultMessage): string {
  return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}

function endOf(text: string): string {
  return text.length > MAX_OUTPUT ? `…${text.slice(-MAX_OUTPUT)}` : text;
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, 4).join("\n").slice(0, 600);
}
