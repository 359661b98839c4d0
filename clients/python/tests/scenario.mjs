// The replies of the scripted model in the tests, chosen by the last word of the user's message.
const hearts = "💜 \u2028 é ".repeat(40);
const call = (name, args, pacing = {}) => ({
  type: "toolCall",
  name,
  arguments: args,
  chunkSize: 3,
  ...pacing,
});

export default function scenario({ lastUserText, toolResults }) {
  const [word = "", ...rest] = lastUserText.split(" ");
  const done = toolResults.length > 0;
  switch (word) {
    case "ls":
      return done
        ? `It has ${toolResults[0].text.trim()}.`
        : { content: ["Look.", call("ls", {})] };
    case "everything": {
      const file = { path: "new.txt", content: `${hearts}\n"quoted" \\ ${"x".repeat(200)}` };
      const thinking = { type: "thinking", thinking: `Hm ${hearts}`, chunkSize: 1 };
      const text = { type: "text", text: hearts, chunkSize: 1 };
      return done ? { content: [text] } : { content: [thinking, text, call("write", file)] };
    }
    case "use": {
      const [name, ...json] = rest;
      return done ? "Done." : { content: [call(name, JSON.parse(json.join(" ")))] };
    }
    case "bash":
      return done ? "Done." : { content: [call("bash", { command: rest.join(" ") })] };
    case "twice":
      return done
        ? "Twice."
        : {
            content: [call("bash", { command: "sleep 0.3" }), call("bash", { command: "echo 2" })],
          };
    case "long":
      return { content: [{ type: "text", text: "word ".repeat(Number(rest[0])), chunkSize: 5 }] };
    case "size":
      return `${[...lastUserText].length} characters`;
    case "slow":
      return { content: [{ type: "text", text: "tick ".repeat(2000), chunkSize: 5, delayMs: 20 }] };
    case "fail":
      return { content: [], fault: { kind: "status", status: 400, message: "no such thing" } };
    default:
      return `You said: ${lastUserText}`;
  }
}
