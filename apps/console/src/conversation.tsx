import type { Markup } from "@tau-agent/rpc-client/markup";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LiveSession } from "./live-session.ts";
import { ToolCallView } from "./tool-call.tsx";

/** The number of messages on the page at first: more than fit on a screen. */
const FIRST = 20;
/** The number of messages added with each step back. */
const STEP = 40;
/** A longer reply is shown as plain text until it is complete, because parsing all of it repeatedly would be slow. */
const MAX_GROWING = 8_000;
/** Within this distance from the end, the page scrolls with new content. */
const END_PX = 120;

interface ConversationProps {
  readonly live: LiveSession;
  readonly markup: Markup;
}

export function Conversation({ live, markup }: ConversationProps) {
  const [count, setCount] = useState(FIRST);
  const view = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLButtonElement>(null);
  const isAtEnd = useRef(true);
  const fromEnd = useRef<number | undefined>(undefined);
  const shown = useMemo(
    () => live.messages.filter(({ role }) => role !== "toolResult"),
    [live.messages],
  );
  const from = Math.max(0, shown.length - count);
  const more = (): void => {
    const { current } = view;
    if (current !== null) fromEnd.current = current.scrollHeight - current.scrollTop;
    setCount((before) => before + STEP);
  };

  useEffect(() => {
    const { current } = top;
    if (current === null) return;
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && more(), {
      root: view.current,
      rootMargin: "400px",
    });
    watch.observe(current);
    return () => watch.disconnect();
  }, [from]);

  // Keeps the scroll position when earlier messages are added, and the end in view when new ones are.
  useLayoutEffect(() => {
    const { current } = view;
    if (current === null) return;
    if (fromEnd.current !== undefined) {
      current.scrollTop = current.scrollHeight - fromEnd.current;
      fromEnd.current = undefined;
    } else if (isAtEnd.current) current.scrollTop = current.scrollHeight;
  });

  return (
    <div
      class="conversation"
      ref={view}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      onScroll={({ currentTarget }) => {
        const { scrollHeight, scrollTop, clientHeight } = currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
      }}
    >
      {from > 0 && (
        <button type="button" class="earlier quiet" ref={top} onClick={more}>
          {from} earlier messages
        </button>
      )}
      {shown.slice(from).map((message, index) => (
        <MessageView
          key={from + index}
          message={message}
          live={live}
          markup={markup}
          marks={marksOf(message, live)}
        />
      ))}
      {live.growing?.role === "assistant" && (
        <Reply message={live.growing} live={live} markup={markup} isGrowing />
      )}
      {shown.length === 0 && live.growing === undefined && (
        <p class="empty">Nothing has been said yet.</p>
      )}
    </div>
  );
}

/** The calls of a message, which change although the message itself does not. */
function marksOf(message: AgentMessage, { results, running }: LiveSession): string {
  if (message.role !== "assistant") return "";
  return message.content
    .map((block) => {
      if (block.type !== "toolCall") return "";
      return results.has(block.id) ? "r" : `${running.get(block.id)?.output.length ?? "-"}`;
    })
    .join();
}

interface MessageProps extends ConversationProps {
  readonly message: AgentMessage;
  readonly marks: string;
}

const MessageView = memo(
  ({ message, live, markup }: MessageProps) => {
    switch (message.role) {
      case "assistant":
        return <Reply message={message} live={live} markup={markup} />;
      case "user":
        return <article class="message user">{plain(message.content)}</article>;
      case "bashExecution":
        return (
          <article class="message shell">
            <code>$ {message.command}</code>
            <pre>{message.output}</pre>
          </article>
        );
      case "compactionSummary":
      case "branchSummary":
        return (
          <details class="message summary">
            <summary>Earlier messages were summarised</summary>
            <Markdown text={message.summary} markup={markup} />
          </details>
        );
      default:
        return null;
    }
  },
  (a, b) => a.message === b.message && a.marks === b.marks,
);

interface ReplyProps extends ConversationProps {
  readonly message: AssistantMessage;
  readonly isGrowing?: boolean;
}

function Reply({ message, live, markup, isGrowing = false }: ReplyProps) {
  const { content, errorMessage } = message;
  return (
    <article class="message assistant">
      {content.map((block, index) => {
        if (block.type === "text") {
          return <Markdown key={index} text={block.text} markup={markup} isGrowing={isGrowing} />;
        }
        if (block.type === "thinking") {
          return block.thinking === "" ? null : (
            <details key={index} class="thinking">
              <summary>Thinking</summary>
              <p>{block.thinking}</p>
            </details>
          );
        }
        const { id } = block;
        return (
          <ToolCallView
            key={id}
            call={block}
            result={live.results.get(id)}
            output={live.running.get(id)?.output}
            markup={markup}
          />
        );
      })}
      {errorMessage !== undefined && <p class="error">{errorMessage}</p>}
    </article>
  );
}

interface MarkdownProps {
  readonly text: string;
  readonly markup: Markup;
  readonly isGrowing?: boolean;
}

/** HTML is set only here and for the diff of a call; it comes from the renderer, which escapes everything. */
function Markdown({ text, markup, isGrowing = false }: MarkdownProps) {
  const isPlain = isGrowing && text.length > MAX_GROWING;
  const html = useMemo(() => (isPlain ? "" : markup.markdown(text)), [text, isPlain]);
  if (isPlain) return <div class="plain">{text}</div>;
  return <div class="markup" dangerouslySetInnerHTML={{ __html: html }} />;
}

function plain(content: string | readonly { readonly type: string; readonly text?: string }[]) {
  if (typeof content === "string") return content;
  return content.map(({ type, text }) => (type === "text" ? text : "[image]")).join("\n");
}
