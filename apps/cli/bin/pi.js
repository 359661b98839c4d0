#!/usr/bin/env node
// The same program under the name that clients of the family start; see decision 19.
import "./tau.js";
