import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * The versions of Node.js that the published packages support, and their programs: this one, and those in scripts/node-hashes.json.
 * A version that is not available, for example without a network, is left out with a message.
 */
export function nodeVersions(): Record<string, string> {
  const hashes = Object.keys(JSON.parse(readFileSync(`${ROOT}scripts/node-hashes.json`, 'utf8')))
  const versions = [...new Set(hashes.map((spec) => spec.slice(spec.lastIndexOf('@') + 1)))]
  const others = versions.filter((version) => version !== process.versions.node).sort()
  const found = others.flatMap((version) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/install-node.mjs', version], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    if (status === 0) return [[version, `${stdout.trim()}/node`]]
    console.log(`Not tested with Node.js ${version}. ${stderr}`)
    return []
  })
  return { ...Object.fromEntries(found), [process.versions.node]: process.execPath }
}
