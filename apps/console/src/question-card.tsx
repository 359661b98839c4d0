import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Elicitation, OpenPage } from "./elicitation-card.tsx";
import { subjectOf } from "./format.ts";
import type { Host } from "./host.ts";
import type { Question } from "./questions.ts";
import { Diff } from "./tool-call.tsx";

type Of<Kind extends Question["kind"]> = Extract<Question, { kind: Kind }>;
interface CardProps<Kind extends Question["kind"]> {
  readonly question: Of<Kind>;
  readonly host: Host;
  readonly answer: (value: unknown) => void;
}

/** The card for each kind of question. */
const cards: {
  readonly [Kind in Question["kind"]]: (props: CardProps<Kind>) => preact.JSX.Element;
} = {
  approval: Approval,
  budget: Budget,
  question: AskUser,
  elicitation: ({ question, answer }) => <Elicitation params={question.params} answer={answer} />,
  page: ({ question, answer }) => <OpenPage params={question.params} answer={answer} />,
  select: ({ question, answer }) => (
    <>
      <h3>{question.params.title}</h3>
      <p class="buttons wrap">
        {question.params.options.map((option) => (
          <Button key={option} label={option} onClick={() => answer(option)} />
        ))}
        <Button look="deny quiet" label="Cancel" onClick={() => answer(undefined)} />
      </p>
    </>
  ),
  confirm: ({ question, answer }) => (
    <>
      <h3>{question.params.title}</h3>
      {question.params.message !== undefined && <p>{question.params.message}</p>}
      <p class="buttons">
        <Button look="allow main" label="Yes" onClick={() => answer(true)} />
        <Button look="deny" label="No" onClick={() => answer(false)} />
      </p>
    </>
  ),
  input: Input,
};

export function QuestionCard({
  question,
  host,
}: {
  readonly question: Question;
  readonly host: Host;
}) {
  const Card = cards[question.kind] as (props: CardProps<Question["kind"]>) => preact.JSX.Element;
  return (
    <section class="question" aria-label="Question">
      <Card
        question={question as never}
        host={host}
        answer={(value) => host.questions.answer(question.id, value)}
      />
    </section>
  );
}

function Approval({ question, host, answer }: CardProps<"approval">) {
  const { toolName, input, reason, diff, path, suggestions, agentId, parts } = question.params;
  const [message, setMessage] = useState("");
  const deny = (): void => {
    answer({ decision: "deny", ...(message !== "" && { message }) });
  };
  return (
    <>
      <h3>
        Allow <b>{toolName}</b>
        {path !== undefined && <code>{path}</code>}?
        {agentId !== undefined && <span class="agent">for subagent {agentId}</span>}
      </h3>
      {diff !== undefined ? (
        <Diff diff={diff} markup={host.markup} />
      ) : (
        <pre>{subjectOf(input) === "" ? JSON.stringify(input, null, 2) : allOf(input)}</pre>
      )}
      {parts !== undefined && parts.length > 1 && (
        <ul class="parts">
          {parts.map(({ text, action }) => (
            <li key={text} class={action}>
              <code>{text}</code>
              <span>{action}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="reason">{reason}</p>
      <p class="buttons">
        <Button look="allow main" label="Allow" onClick={() => answer({ decision: "allow" })} />
        {suggestions.length > 0 && (
          <button
            type="button"
            title={suggestions.map(({ tool, match = "" }) => `${tool} ${match}`).join("\n")}
            onClick={() => answer({ decision: "allow", scope: "session" })}
          >
            Allow for session
          </button>
        )}
        <Button look="deny" label="Deny" onClick={deny} />
        <input
          class="why"
          placeholder="Why not (for the model)"
          aria-label="Reason for denying"
          value={message}
          onInput={({ currentTarget }) => setMessage(currentTarget.value)}
          onKeyDown={({ key }) => key === "Enter" && deny()}
        />
      </p>
    </>
  );
}

/** The complete input of a call: nothing may be hidden from the user who allows it. */
function allOf(input: Readonly<Record<string, unknown>>): string {
  const { command, ...rest } = input;
  if (typeof command !== "string") return JSON.stringify(input, null, 2);
  const others = Object.keys(rest).length === 0 ? "" : `\n${JSON.stringify(rest, null, 2)}`;
  return `${command}${others}`;
}

function Budget({ question, answer }: CardProps<"budget">) {
  const { title, limit, used, dimension } = question.params;
  const [value, setValue] = useState(String(Math.max(2 * limit, 1.5 * used)));
  const next = Number(value);
  return (
    <>
      <h3>{title}</h3>
      <p class="reason">
        {dimension.replaceAll("_", " ")}: {used} of {limit} used
      </p>
      <p class="buttons">
        <input
          type="number"
          step="any"
          aria-label="New limit"
          value={value}
          onInput={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <Button
          look="allow main"
          label="Raise"
          isDisabled={!(next > used)}
          onClick={() => answer({ limit: next })}
        />
        <Button look="deny" label="Stop the work" onClick={() => answer({ stop: true })} />
      </p>
    </>
  );
}

function Input({ question, answer }: CardProps<"input">) {
  const { title, text = "", isLong = false } = question.params;
  const [value, setValue] = useState(text);
  return (
    <>
      <h3>{title}</h3>
      <textarea
        rows={isLong ? 8 : 1}
        aria-label={title}
        value={value}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
      />
      <p class="buttons">
        <Button look="allow main" label="Answer" onClick={() => answer(value)} />
        <Button look="deny" label="Cancel" onClick={() => answer(undefined)} />
      </p>
    </>
  );
}

type Given = { readonly labels: readonly string[]; readonly text?: string };

/** A question from the model: labels to choose from, and free text in addition or instead. */
function AskUser({ question, answer }: CardProps<"question">) {
  const { questions } = question.params;
  const [given, setGiven] = useState<readonly Given[]>(questions.map(() => ({ labels: [] })));
  const change = (at: number, by: Partial<Given>): void => {
    setGiven(given.map((one, index) => (index === at ? { ...one, ...by } : one)));
  };
  const choose = (at: number, label: string): void => {
    const { labels = [] } = given[at] ?? {};
    if (questions[at]?.multiSelect !== true) change(at, { labels: [label] });
    else if (labels.includes(label)) change(at, { labels: labels.filter((one) => one !== label) });
    else change(at, { labels: [...labels, label] });
  };
  const isWhole = given.every(({ labels, text = "" }) => labels.length > 0 || text !== "");
  return (
    <>
      {questions.map(({ question: text, header, options }, at) => (
        <fieldset key={text}>
          <legend>
            {header !== undefined && <span class="tag">{header}</span>} {text}
          </legend>
          {options.map(({ label, description }) => (
            <button
              type="button"
              class="option"
              key={label}
              aria-pressed={given[at]?.labels.includes(label) === true}
              onClick={() => choose(at, label)}
            >
              <b>{label}</b>
              {description !== undefined && <span>{description}</span>}
            </button>
          ))}
          <input
            aria-label={`Own answer to ${text}`}
            placeholder="In your own words"
            onInput={({ currentTarget: { value } }) => change(at, { text: value })}
          />
        </fieldset>
      ))}
      <p class="buttons">
        <Button
          look="allow main"
          label="Answer"
          isDisabled={!isWhole}
          onClick={() =>
            answer({
              answers: given.map(({ labels, text }) => ({ labels, ...(text && { text }) })),
            })
          }
        />
        <Button look="deny" label="Do not answer" onClick={() => answer({ cancelled: true })} />
      </p>
    </>
  );
}
