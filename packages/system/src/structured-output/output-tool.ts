/** The tool with which a model answers; permissions and extensions are not asked about it. */
export const OUTPUT_TOOL = "structured_output";

/** The type of the custom message that tells the model why its answer does not fit. */
export const OUTPUT_REMINDER = "output_schema";
