#!/usr/bin/env node
// Runs the sources in a checkout. Plain JavaScript: older versions of Node.js cannot read TypeScript, and this says so.
import '../../../scripts/require-node.mjs'

await import('../src/main.ts')
