import {
  type Command,
  type CommandNode,
  type CompoundList,
  type PipelineNode,
  parse,
  type Redirection,
  type Function as ShellFunction,
  type Statement,
} from "unbash";
import { readCommand } from "./commands/read-command.ts";
import { findHazard } from "./line/hazards.ts";
import { LineReading } from "./line/line-reading.ts";
import { assignmentWord, type ShellWord, toShellWord } from "./line/shell-word.ts";

/** Nobody types more; what writes a large file in a here-document is not worth the time. */
const maxLength = 1_000_000;
/** `sh -c` in `sh -c`: more than this is an attempt to hide something. */
const maxDepth = 8;

/** Reads a line with all that this folder needs to know of it. */
export function readLine(line: string): LineReading {
  const reading = new LineReading();
  new LineReader(reading).readText(line);
  return reading;
}

/** Goes through the tree of a line and reports commands and writes. */
class LineReader {
  readonly #reading: LineReading;
  #depth = 0;

  constructor(reading: LineReading) {
    this.#reading = reading;
  }

  readText(text: string): void {
    const problem = this.#problemOf(text);
    this.#reading.fail(problem);
    if (problem !== undefined) return;
    const script = parse(text);
    this.#reading.fail(findHazard(script));
    this.#depth += 1;
    this.#statements(script.commands);
    this.#depth -= 1;
  }

  #problemOf(text: string): string | undefined {
    if (text.length > maxLength) return "it is too long";
    if (text.includes("\0")) return "it holds a null character";
    return this.#depth === maxDepth ? "it nests too many shells" : undefined;
  }

  #statements(statements: readonly Statement[]): void {
    for (const { command, background } of statements) {
      if (background) this.#reading.traits.add("background");
      if (command.type !== "AndOr") this.#pipeline(command);
      else for (const part of command.commands) this.#pipeline(part);
    }
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== "Pipeline") this.#command(node);
    else for (const command of node.commands) this.#command(command);
  }

  #command(node: CommandNode): void {
    switch (node.type) {
      case "Command":
        this.#simpleCommand(node);
        break;
      case "Redirected":
        this.#redirections(node.redirects);
        this.#command(node.command);
        break;
      case "Function":
        this.#function(node);
        break;
      case "Subshell":
        this.#subshell(node.body);
        break;
      // Arithmetic and tests run no commands; a coprocess is a hazard already.
      case "TestCommand":
      case "ArithmeticCommand":
      case "Coproc":
        break;
      default:
        if (loops.has(node.type)) this.#reading.repeats();
        for (const list of listsOf(node)) this.#list(list);
    }
  }

  #subshell(body: CompoundList): void {
    const { hasMoved } = this.#reading;
    this.#list(body);
    this.#reading.hasMoved = hasMoved;
  }

  #list(list: CompoundList | undefined): void {
    if (list !== undefined) this.#statements(list.commands);
  }

  #function({ body }: ShellFunction): void {
    this.#reading.traits.add("function");
    this.#reading.repeats();
    if (body.type === "CompoundList") this.#list(body);
    else this.#command(body);
  }

  #simpleCommand({ name, prefix, args, redirects }: Command): void {
    this.#redirections(redirects);
    if (prefix.some((part) => part.type === "Assignment")) this.#reading.traits.add("assignment");
    if (name === undefined) return;
    const words: ShellWord[] = [toShellWord(name)];
    for (const argument of args) {
      words.push(argument.type === "Word" ? toShellWord(argument) : assignmentWord(argument));
    }
    const readText = (text: string) => this.readText(text);
    readCommand({ words }, { reading: this.#reading, readText });
  }

  #redirections(redirections: readonly Redirection[]): void {
    for (const redirection of redirections) {
      if (redirection.type !== "Redirect") continue;
      const { operator, target } = redirection;
      if (target !== undefined && operator.includes(">"))
        this.#write(toShellWord(target), operator);
    }
  }

  #write({ text, isLiteral, hasTilde }: ShellWord, operator: string): void {
    const isNamed = !hasTilde || text === "~" || text.startsWith("~/");
    if (!isLiteral || !isNamed) {
      this.#reading.fail("it writes to a path that only the shell knows");
    } else if (!isOpenAlready(text, operator)) {
      this.#reading.write(text.startsWith("~") && !hasTilde ? `./${text}` : text);
    }
  }
}

/** Nothing is written there, or to a file that is open already. */
function isOpenAlready(text: string, operator: string): boolean {
  if (operator === ">&" && /^(?:\d+-?|-)$/.test(text)) return true;
  return /^\/dev\/(?:null|stdout|stderr|fd\/\d+)$/.test(text);
}

const loops: ReadonlySet<string> = new Set(["While", "For", "ArithmeticFor", "Select"]);

type WithLists = Extract<
  CommandNode,
  { type: "BraceGroup" | "Case" | "If" | "While" | "For" | "ArithmeticFor" | "Select" }
>;

/** The lists of a compound command, in the order of the text. */
function listsOf(node: WithLists): readonly (CompoundList | undefined)[] {
  switch (node.type) {
    case "Case":
      return node.items.map((item) => item.body);
    case "If":
      return [node, ...node.elif]
        .flatMap(({ clause, then }) => [clause, then])
        .concat(node.else ?? []);
    case "While":
      return [node.clause, node.body];
    default:
      return [node.body];
  }
}
