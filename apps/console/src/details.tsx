import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { count, dollars } from "./format.ts";
import type { Jobs, LiveSession, Subagent } from "./live-session.ts";
import { Plots } from "./plots.tsx";

interface DetailsProps {
  readonly live: LiveSession;
  readonly onClose: () => void;
}

/** The cost of a session, and what runs in it besides the conversation. */
export function Details({ live, onClose }: DetailsProps) {
  const { stats, jobs, queue, session, subagents } = live;
  const { tokens, cost = 0, contextUsage, cacheUsage, toolCalls = 0 } = stats ?? {};
  const facts: readonly (readonly [string, string])[] = [
    ["Cost", dollars(cost)],
    ["Tokens", count(tokens?.total ?? 0)],
    ["From cache", cacheUsage === undefined ? "–" : `${Math.round(cacheUsage.percent)} %`],
    ["Window", contextUsage?.percent == null ? "–" : `${Math.round(contextUsage.percent)} %`],
    ["Calls", String(toolCalls)],
  ];
  return (
    <aside class="details" aria-label="Details">
      <Button look="close quiet" label="Close" onClick={onClose} />
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Plots messages={live.messages} contextWindow={contextUsage?.contextWindow} />
      {subagents.size > 0 && (
        <section>
          <h3>Subagents</h3>
          <ul class="tree">
            {[...subagents.values()].map((one) => (
              <SubagentRow key={one.id} subagent={one} isOnly={subagents.size === 1} />
            ))}
          </ul>
        </section>
      )}
      {queue.length > 0 && (
        <section>
          <h3>Queue</h3>
          <ul class="queue">
            {queue.map(({ itemId, text, kind }) => (
              <li key={itemId}>
                <span class="tag">{kind === "steer" ? "steers" : "follows"}</span>
                <span class="text">{text}</span>
                <button
                  type="button"
                  class="quiet"
                  aria-label="Take back"
                  onClick={() => void session.cancelQueued(itemId).catch(() => {})}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {jobs.length > 0 && (
        <section>
          <h3>Jobs</h3>
          <ul class="jobs">
            {jobs.map((job) => (
              <JobRow key={job.jobId} job={job} live={live} />
            ))}
          </ul>
        </section>
      )}
    </aside>
  );
}

/** The id of a nested subagent contains those of its ancestors. */
function SubagentRow({
  subagent,
  isOnly,
}: {
  readonly subagent: Subagent;
  readonly isOnly: boolean;
}) {
  const { id, agent, status, doing } = subagent;
  // The id of a call means nothing to a user, but it distinguishes several calls.
  const about = subagent.description || (isOnly ? "" : id.split("/").at(-1));
  const depth = Math.min(4, id.split("/").length - 1);
  return (
    <li class={`depth-${depth}`}>
      <span
        class={`state ${status === "running" ? "running" : status}`}
        role="img"
        aria-label={status}
      />
      <b>{agent}</b>
      {about && (
        <span class="about" title={about}>
          {about}
        </span>
      )}
      <span class="doing">{doing}</span>
    </li>
  );
}

function JobRow({ job, live }: { readonly job: Jobs[number]; readonly live: LiveSession }) {
  const [output, setOutput] = useState<string>();
  const { jobId, command, status, exitCode } = job;
  const show = async (): Promise<void> => {
    if (output !== undefined) setOutput(undefined);
    else setOutput((await live.session.jobOutput(jobId)).output);
  };
  return (
    <li>
      <button
        type="button"
        class="job"
        aria-expanded={output !== undefined}
        onClick={() => void show()}
      >
        <span
          class={`state ${status === "running" ? "running" : exitCode === 0 ? "done" : "failed"}`}
        />
        <code>{command}</code>
      </button>
      {status === "running" && (
        <Button
          look="quiet"
          label="Kill"
          onClick={() => void live.session.jobKill(jobId).catch(() => {})}
        />
      )}
      {output !== undefined && <pre>{output === "" ? "No output yet." : output}</pre>}
    </li>
  );
}
