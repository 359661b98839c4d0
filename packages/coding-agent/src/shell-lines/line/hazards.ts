import { forEachChild, type SyntaxNode } from "unbash";

/** Variables that decide which programs run, or how a line is split into words. */
const guarded = /^(?:PATH|LD_\w*|IFS|ENV|BASH_ENV|BASH_ALIASES|BASH_CMDS|BASH_FUNC_.*)$/;

/** Why a line that sets this variable cannot be understood, if it is such a variable. */
export function assignmentHazard(name: string): string | undefined {
  return guarded.test(name) ? `it assigns to ${name}` : undefined;
}

/**
 * Why one of the texts cannot be understood. Arithmetic and builtins evaluate words that hold the
 * name of a variable; a subscript in it can run a command, also from within quotes.
 */
export function secondEvaluation(texts: readonly string[]): string | undefined {
  return texts.some((text) => text.includes("$(") || text.includes("`"))
    ? "it has quoted text that the shell may run as a substitution"
    : undefined;
}

/**
 * Looks in every corner of a line for what makes it unknowable: here-documents, arithmetic,
 * patterns and subscripts can hold commands too.
 *
 * @returns why the line cannot be understood, if that is so
 */
export function findHazard(node: SyntaxNode): string | undefined {
  let found = node.type === "Script" && isBroken(node) ? "it does not parse" : undefined;
  forEachChild(node, (child) => {
    found ??= findHazard(child);
  });
  return found ?? hazardOf(node);
}

function isBroken(script: SyntaxNode): boolean {
  return "errors" in script && (script.errors?.length ?? 0) > 0;
}

function hazardOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
      return "it has a command substitution";
    case "ProcessSubstitution":
      return "it has a process substitution";
    case "Coproc":
      return "it starts a coprocess";
    case "TestUnary":
      return secondEvaluation([node.operand.value]);
    case "TestBinary":
      return secondEvaluation([node.left.value, node.right.value]);
    case "ArithmeticWord":
      return secondEvaluation([node.value]);
    default:
      return variableHazard(node);
  }
}

/** Each construct that sets a variable has its own way to name it. */
function variableHazard(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case "FileDescriptorVariable":
      return assignmentHazard(node.name);
    case "For":
    case "Select":
      return assignmentHazard(node.name.value);
    case "Assignment":
      return assignmentHazard(node.name) ?? secondEvaluation([node.text]);
    case "ParameterExpansion":
      if (node.operation?.type === "Transform") return "it transforms a variable";
      return node.operation?.type === "Default" && node.operation.operator.endsWith("=")
        ? assignmentHazard(node.parameter)
        : undefined;
    default:
      return undefined;
  }
}
