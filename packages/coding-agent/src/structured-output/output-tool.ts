/** The tool with which a model answers; permissions and extensions are not asked about it. */
export const OUTPUT_TOOL = "structured_output";
