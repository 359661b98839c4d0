#!/usr/bin/env node
// The same program under the name that pi's clients start; see docs/decisions/0019.
import "@tau-agent/cli/bin/tau.js";
