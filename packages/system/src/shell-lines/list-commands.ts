import { forEachChild, parse, type SyntaxNode } from "unbash";

/** More commands would not help the person who is asked about the line. */
const maxCommands = 50;
const maxLength = 20_000;

/**
 * The commands that a parser finds in a line, to show to a person. Not for judging: bash may read the line
 * differently.
 */
export function listCommands(line: string): string[] {
  const commands: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (commands.length === maxCommands) return;
    if (node.type === "Command" && node.name !== undefined) {
      commands.push(line.slice(node.pos, node.end));
    }
    forEachChild(node, visit);
  };
  if (line.length <= maxLength) visit(parse(line));
  return commands;
}
