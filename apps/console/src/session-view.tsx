import { useState } from "preact/hooks";
import { Failure, useAttempt } from "./attempt.tsx";
import { Button } from "./button.tsx";
import { Conversation } from "./conversation.tsx";
import { dollars, shortPath } from "./format.ts";
import type { Host } from "./host.ts";
import type { LiveSession } from "./live-session.ts";
import { QuestionCard } from "./question-card.tsx";
import type { Question } from "./questions.ts";
import { Rewind } from "./rewind.tsx";

interface SessionProps {
  readonly host: Host;
  readonly live: LiveSession;
  readonly questions: readonly Question[];
  readonly onDetails: () => void;
}

export function SessionView({ host, live, questions, onDetails }: SessionProps) {
  const [isRewinding, setRewinding] = useState(false);
  const { session, state, stats, isBusy } = live;
  const info = host.sessions.find(({ sessionId }) => sessionId === session.sessionId);
  const title = state?.sessionName ?? (info?.cwd ? shortPath(info.cwd) : "Session");
  return (
    <main class="session">
      <header>
        <button
          type="button"
          class="back quiet"
          aria-label="All sessions"
          onClick={() => void host.show(undefined)}
        >
          ←
        </button>
        <h2>{title}</h2>
        <span class="model">{state?.model?.name ?? "no model"}</span>
        <span class="cost">{dollars(stats?.cost ?? 0)}</span>
        <button
          type="button"
          id="rewind"
          class="quiet"
          disabled={isBusy}
          onClick={() => setRewinding(true)}
        >
          Rewind
        </button>
        <Button look="quiet more" label="Details" onClick={onDetails} />
      </header>
      <Conversation live={live} markup={host.markup} />
      <footer>
        {questions.map((question) => (
          <QuestionCard key={question.id} question={question} host={host} />
        ))}
        <Failure text={live.note} />
        <Composer live={live} />
      </footer>
      {isRewinding && <Rewind live={live} onClose={() => setRewinding(false)} />}
    </main>
  );
}

function Composer({ live }: { readonly live: LiveSession }) {
  const [text, setText] = useState("");
  const { attempt, error } = useAttempt();
  const send = async (): Promise<void> => {
    const message = text.trim();
    if (message === "") return;
    setText("");
    if (!(await attempt(() => live.send(message)))) setText(message);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        id="message"
        rows={1}
        value={text}
        aria-label="Message"
        placeholder={live.isBusy ? "Steer the run" : "Message"}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      {live.isBusy && (
        <button type="button" id="stop" onClick={() => void live.abort().catch(() => {})}>
          Stop
        </button>
      )}
      <button type="submit" class="main" disabled={text.trim() === ""}>
        {live.isBusy ? "Steer" : "Send"}
      </button>
      <Failure text={error} />
    </form>
  );
}
