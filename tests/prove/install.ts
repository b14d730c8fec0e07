import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openBrowser } from '@lockstep/testing/browser'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, eventually, launch, newFolder } from '@lockstep/testing/processes'
import { installNode } from '../deploy/image.ts'
import { atMost, collectFigures, info, type Progress, type Report } from './report.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = '24.21.0'
const USER = 1000
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** Enough for a slow network: the README promises no time. */
const TIMEOUT_MS = 10 * 60_000
const run = promisify(execFile)

/** What the README says, on a minimal Debian, as a user without privileges: clone, install, demo, two browsers. */
export async function prove(progress: Progress): Promise<Report> {
  const { figures, violations, add, fail } = collectFigures(progress)
  try {
    const machine = await makeDebian(progress)
    if ((await machine.execute('id -u')) === '0') fail('The commands run as root.')
    if ((await machine.execute('node --version')) !== `v${NODE}`) fail(`The commands do not run in Node.js ${NODE}.`)
    if (await machine.execute('find / -xdev -name "libatomic*" 2>/dev/null || true')) fail('libatomic is installed.')

    const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const began = performance.now()
      const result = await work()
      add(info(what, Math.round((performance.now() - began) / 100) / 10, 's'))
      return result
    }
    await timed('git clone', () => machine.execute('git clone --quiet /srv/lockstep.git lockstep'))
    await timed('npm ci', () => machine.execute('cd lockstep && npm ci'))
    const began = performance.now()
    const port = await freePort()
    const demo = machine.start(`cd lockstep && npm run demo -- --port ${port}`)
    await timed('npm run demo, until it prints two links', () =>
      eventually(
        'the demo prints its links',
        () => {
          if (demo.hasEnded()) throw new Error(`The demo has ended: ${demo.output()}`)
          return demo.output().includes('Ctrl-C stops the demo')
        },
        TIMEOUT_MS,
      ),
    )
    const [ada = '', grace = ''] = demo.output().match(/http:\S+\/app\/demo\/\w+/g) ?? []
    const delay = await timed('both links opened, a card added in one browser and seen in the other', () =>
      shareBoard(ada, grace),
    )
    add(atMost('the card, from Enter to the other browser', delay, 1_000, 'ms'))
    add(info('demo and browsers together', Math.round((performance.now() - began) / 1_000), 's'))
  } finally {
    await endProcesses()
  }
  return { figures, violations }
}

/** Opens each link in a browser of its own. Returns the milliseconds until the second one shows a card of the first. */
async function shareBoard(ada: string, grace: string): Promise<number> {
  const browsers = await Promise.all([openBrowser(), openBrowser()])
  try {
    const [hers, theirs] = await Promise.all(browsers.map((browser) => browser.newPage()))
    if (!hers || !theirs) throw new Error('A browser has no page.')
    await Promise.all([hers.goto(ada), theirs.goto(grace)])
    await hers.getByRole('button', { name: 'New card' }).click()
    await theirs.getByRole('button', { name: 'New card' }).waitFor()
    await hers.getByLabel('Card title').fill('Hello from the other browser')
    const began = performance.now()
    await hers.keyboard.press('Enter')
    await theirs.getByText('Hello from the other browser').waitFor()
    return Math.round(performance.now() - began)
  } finally {
    await Promise.all(browsers.map((browser) => browser.close()))
  }
}

/** A Debian with git and Node.js in a folder. Its commands run in a chroot, as a user, with the network of this machine. */
async function makeDebian(progress: Progress) {
  const folder = await newFolder()
  const root = join(folder, 'debian')
  await run('mmdebstrap', ['--quiet', '--variant=minbase', '--include=git,ca-certificates', 'bookworm', root])
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/install-node.mjs'), NODE])
  await installNode(join(stdout.trim(), 'node'), join(root, 'usr/local'))
  await run('useradd', ['--root', root, '--create-home', `--uid=${USER}`, 'user'])
  for (const file of ['etc/resolv.conf', 'etc/hosts', CERTIFICATES.slice(1)]) await cp(`/${file}`, join(root, file))
  const repository = join(root, 'srv/lockstep.git')
  await run('git', ['clone', '--quiet', '--bare', '--no-hardlinks', ROOT, repository])
  // git clones only from repositories of the same user.
  await run('chown', ['--recursive', `${USER}:${USER}`, repository])
  progress('made a minimal Debian')

  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'])
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/home/user',
    npm_config_registry: registry.trim(),
    NODE_EXTRA_CA_CERTS: CERTIFICATES,
  }
  const enter = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
    exec /usr/sbin/chroot --userspec=${USER}:${USER} "$0" sh -c 'cd && exec sh -c "$0"' "$1"`
  // Mounts and processes end with the namespaces of the command.
  const command = (script: string) => ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, root, script]
  return {
    execute: async (script: string) => {
      const { stdout: output } = await run('unshare', command(script), { env: environment, timeout: TIMEOUT_MS })
      return output.trim()
    },
    start: (script: string) => launch('unshare', command(script), { env: environment }),
  }
}
