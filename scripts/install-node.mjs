// Plain JavaScript without dependencies: it runs before the right Node.js and the packages are there.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

const HELP = `node scripts/install-node.mjs [version]

Downloads a version of Node.js from the npm registry (default: the one in .node-version), checks it against the hash in
scripts/node-hashes.json, and prints the folder to put in front of PATH. A version that is there already is not downloaded.`

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
const isWindows = process.platform === 'win32'
const shell = isWindows

const [argument] = process.argv.slice(2)
if (argument?.startsWith('-')) {
  console.log(HELP)
  process.exit(argument === '--help' ? 0 : 2)
}
try {
  console.log(install(argument ?? read('../.node-version').trim()))
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

function install(version) {
  const platform = isWindows ? 'win' : process.platform
  const name = `node-${platform === 'darwin' && process.arch === 'arm64' ? 'bin-' : ''}${platform}-${process.arch}`
  const hash = JSON.parse(read('node-hashes.json'))[`${name}@${version}`]
  if (!hash) throw new Error(`scripts/node-hashes.json has no ${name}@${version}: install Node.js ${version} yourself.`)
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lockstep')
  const folder = join(cache, `${name}-${version}`)
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true })
    download(`${name}@${version}`, hash, folder, cache)
  }
  const bin = join(folder, 'bin')
  demandStart(join(bin, isWindows ? 'node.exe' : 'node'), version)
  return bin
}

/** Unpacks next to the final folder and renames, so that an interrupted download leaves nothing half done. */
function download(spec, hash, folder, cache) {
  const work = mkdtempSync(join(cache, 'download-'))
  try {
    // npm uses the configured registry. Outside the project, so that no setting of the project applies.
    const output = execFileSync('npm', ['pack', spec, '--json', '--pack-destination', work], {
      cwd: tmpdir(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      shell,
    })
    const file = join(work, JSON.parse(output)[0].filename)
    const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    if (found !== hash) throw new Error(`${spec} has the hash ${found}, not ${hash}: it is not what was reviewed.`)
    execFileSync('tar', ['-xzf', file, '-C', work])
    try {
      renameSync(join(work, 'package'), folder)
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error
    }
  } catch (error) {
    throw error.stderr ? new Error(`npm could not download ${spec}.\n${error.stderr}`) : error
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function demandStart(node, version) {
  const { status, stderr, error } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (status === 0) return
  const [, library] = /(\S+\.so[.\d]*): cannot open shared object file/.exec(stderr ?? '') ?? []
  if (library?.startsWith('libatomic'))
    throw new Error(
      `Node.js ${version} needs the library ${library}, which this machine lacks: install the package libatomic1 (Debian, Ubuntu) or libatomic (Fedora, Alpine), or use Node.js 24, which does not need it.`,
    )
  throw new Error(`${node} does not start: ${error?.message ?? stderr}`)
}
