import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { useMemo } from "preact/hooks";
import { count, dollars } from "./format.ts";

const WIDTH = 280;
const HEIGHT = 44;
/** The number of latest turns that have their own bar. */
const MAX_TURNS = 80;

interface Turn {
  readonly tokens: number;
  readonly cost: number;
  /** The part of the input that was read from a cache. */
  readonly cached: number;
  /** How much of the context window the request used. */
  readonly window: number;
}

interface PlotsProps {
  readonly messages: readonly AgentMessage[];
  readonly contextWindow: number | undefined;
}

export function Plots({ messages, contextWindow }: PlotsProps) {
  const turns = useMemo(() => turnsOf(messages), [messages]);
  if (turns.length === 0) return null;
  const percent = (value: number) => `${Math.round(100 * value)} %`;
  const size = contextWindow ?? Math.max(...turns.map(({ window }) => window));
  return (
    <section class="plots">
      <Plot title="Tokens" values={turns.map(({ tokens }) => tokens)} show={count} />
      {turns.some(({ cost }) => cost > 0) && (
        <Plot title="Cost" values={turns.map(({ cost }) => cost)} show={dollars} />
      )}
      <Plot title="From cache" values={turns.map(({ cached }) => cached)} show={percent} max={1} />
      <Plot
        title="Window"
        values={turns.map(({ window }) => window / size)}
        show={percent}
        max={1}
      />
    </section>
  );
}

interface PlotProps {
  readonly title: string;
  readonly values: readonly number[];
  readonly show: (value: number) => string;
  readonly max?: number;
}

/** One bar per turn, with the last value as text. */
function Plot({ title, values, show, max = Math.max(...values) }: PlotProps) {
  const width = WIDTH / Math.max(values.length, 12);
  const last = values.at(-1) ?? 0;
  return (
    <figure>
      <figcaption>
        <span>{title}</span>
        <b>{show(last)}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} over ${values.length} turns, the last ${show(last)}`}
      >
        {values.map((value, index) => {
          const height = max > 0 ? Math.max(1, (Math.min(value, max) / max) * HEIGHT) : 1;
          return (
            <rect
              key={index}
              x={index * width}
              y={HEIGHT - height}
              width={Math.max(1, width - 2)}
              height={height}
            >
              <title>{show(value)}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}

function turnsOf(messages: readonly AgentMessage[]): readonly Turn[] {
  const turns = messages.flatMap((message): Turn[] => {
    if (message.role !== "assistant") return [];
    const { input, output, cacheRead, cacheWrite, cost } = message.usage;
    const window = input + cacheRead + cacheWrite;
    if (window + output === 0) return [];
    const cached = window === 0 ? 0 : cacheRead / window;
    return [{ tokens: window + output, cost: cost.total, cached, window: window + output }];
  });
  return turns.slice(-MAX_TURNS);
}
