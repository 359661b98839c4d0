import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import type { Question } from "./questions.ts";

type Params = Extract<Question, { kind: "elicitation" }>["params"];
type Page = Extract<Question, { kind: "page" }>["params"];
type Answer = (value: unknown) => void;

/** A field of the form that a server requests, as JSON Schema. */
interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** A request of an MCP server to the user: for values, or to open a page. */
export function Elicitation({ params, answer }: { params: Params; answer: Answer }) {
  const { server, message, mode, url = "", requestedSchema } = params;
  const { properties = {}, required = [] } = (requestedSchema ?? {}) as {
    properties?: Readonly<Record<string, Field>>;
    required?: readonly string[];
  };
  const fields = Object.entries(properties);
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(
    Object.fromEntries(fields.map(([name, field]) => [name, field.default])),
  );
  const isWhole = required.every((name) => values[name] !== undefined && values[name] !== "");
  return (
    <>
      <h3>
        <b>{server}</b> asks
      </h3>
      {/* The server's own text, which may say anything, so it is shown as text and never as a link. */}
      <p class="reason">{message}</p>
      {mode === "url" && <Address url={url} onOpen={() => answer({ action: "accept" })} />}
      {fields.map(([name, field]) => (
        <label class="field" key={name} htmlFor={`field-${name}`}>
          <span>
            {field.title ?? name}
            {required.includes(name) && " *"}
          </span>
          <Value
            id={`field-${name}`}
            field={field}
            value={values[name]}
            onValue={(value) => setValues({ ...values, [name]: value })}
          />
          {field.description !== undefined && <small>{field.description}</small>}
        </label>
      ))}
      <p class="buttons">
        {mode === "form" && (
          <Button
            look="allow main"
            label="Send"
            isDisabled={!isWhole}
            onClick={() => answer({ action: "accept", content: given(values) })}
          />
        )}
        <Button look="deny" label="Decline" onClick={() => answer({ action: "decline" })} />
        <Button look="quiet" label="Cancel" onClick={() => answer({ action: "cancel" })} />
      </p>
    </>
  );
}

/** A page that the host wants to open, such as a login page. */
export function OpenPage({ params, answer }: { params: Page; answer: Answer }) {
  const { url, server, userCode } = params;
  return (
    <>
      <h3>{server === undefined ? "A login" : `The login of ${server}`} needs a page opened</h3>
      {userCode !== undefined && (
        <p class="reason">
          Code to type in there: <code>{userCode}</code>
        </p>
      )}
      <Address url={url} onOpen={() => answer(true)} />
      <p class="buttons">
        <Button look="deny" label="Cancel" onClick={() => answer(false)} />
      </p>
    </>
  );
}

/** Shows the whole address before it is opened; only web pages can be opened. */
function Address({ url, onOpen }: { readonly url: string; readonly onOpen: () => void }) {
  const isWeb = /^https?:\/\//i.test(url);
  return (
    <p class="address">
      <code>{url}</code>
      {isWeb && (
        <a class="allow" href={url} target="_blank" rel="noopener noreferrer" onClick={onOpen}>
          Open
        </a>
      )}
    </p>
  );
}

interface ValueProps {
  readonly id: string;
  readonly field: Field;
  readonly value: unknown;
  readonly onValue: (value: unknown) => void;
}

function Value({ id, field, value, onValue }: ValueProps) {
  const { type, minimum, maximum, maxLength } = field;
  if (type === "boolean") {
    const onInput = (event: { currentTarget: HTMLInputElement }) =>
      onValue(event.currentTarget.checked);
    return <input id={id} type="checkbox" checked={value === true} onInput={onInput} />;
  }
  if (field.enum !== undefined) {
    return (
      <select
        id={id}
        value={String(value ?? "")}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      >
        <option value="" />
        {field.enum.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  const isNumber = type === "number" || type === "integer";
  const shown = value === undefined ? "" : String(value);
  const onInput = (event: { currentTarget: HTMLInputElement }): void => {
    const text = event.currentTarget.value;
    onValue(text === "" ? undefined : isNumber ? Number(text) : text);
  };
  if (!isNumber) {
    return <input id={id} type="text" maxLength={maxLength} value={shown} onInput={onInput} />;
  }
  const step = type === "integer" ? 1 : "any";
  return (
    <input
      id={id}
      type="number"
      step={step}
      min={minimum}
      max={maximum}
      value={shown}
      onInput={onInput}
    />
  );
}

/** Fields that were left empty are not sent. */
function given(values: Readonly<Record<string, unknown>>): object {
  const all = Object.entries(values);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== ""));
}
