import { render } from "preact";
import { Console } from "./console.tsx";
import { Host } from "./host.ts";
import { forgetToken, tokenOfTab } from "./token.ts";

function Closed({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <main class="closed">
      <h1>{title}</h1>
      <p>{text}</p>
    </main>
  );
}

async function start(): Promise<void> {
  const token = await tokenOfTab();
  if (token === undefined) {
    const text =
      "A link opens the console once, within five minutes. Press Enter where tau console runs for another.";
    render(<Closed title="This link does not work any more" text={text} />, document.body);
    return;
  }
  try {
    const host = await Host.connect(token);
    render(<Console host={host} />, document.body);
  } catch (error) {
    forgetToken();
    render(<Closed title="No connection to the host" text={String(error)} />, document.body);
  }
}

void start();
