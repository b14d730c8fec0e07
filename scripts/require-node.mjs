// The first thing that every npm script runs. Plain JavaScript: older versions of Node.js cannot read TypeScript.
import { readFileSync } from 'node:fs'

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
const [, needed] = />=([\d.]+)/.exec(JSON.parse(read('package.json')).engines.node)

if (needed.localeCompare(process.versions.node, 'en', { numeric: true }) > 0) {
  console.error(
    `Lockstep needs Node.js ${needed} or newer, and this is ${process.versions.node}: install it, or run PATH="$(node scripts/install-node.mjs):$PATH" to use version ${read('.node-version').trim()} in this shell.`,
  )
  process.exit(1)
}
