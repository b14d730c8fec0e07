import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, lstat, mkdir, readdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { launch, newFolder, type RunningProcess } from '@lockstep/testing/processes'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
/** What the Dockerfile uses of its base image besides Node.js and npm: a shell, file tools, `strip` and `ldd`. */
const PACKAGES = 'base-files,bash,dash,coreutils,findutils,grep,sed,binutils,libc-bin,libstdc++6,libatomic1'

/** An image built by buildah: its files and its configuration. */
export interface Image {
  folder: string
  config: {
    User: string
    Env: string[]
    Cmd: string[]
    WorkingDir: string
    Labels: Record<string, string>
    Healthcheck: { Test: string[] }
  }
}

const execute = promisify(execFile)
async function run(program: string, args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { cwd: ROOT, maxBuffer: 2 ** 26 })
  return stdout.trim()
}

/** buildah with a storage folder of the test. RUN uses chroot, which needs no container runtime and no network set-up. */
export async function startBuilder() {
  const folder = await newFolder()
  const storage = [`--root=${join(folder, 'storage')}`, `--runroot=${join(folder, 'run')}`]
  const buildah = (...args: string[]) => run('buildah', [...storage, ...args])
  const mounted = async (tag: string): Promise<Image> => {
    const container = await buildah('from', '--pull-never', tag)
    const { Docker } = JSON.parse(await buildah('inspect', '--type=image', tag)) as { Docker: Pick<Image, 'config'> }
    return { folder: await buildah('mount', container), config: Docker.config }
  }
  return {
    /** Builds a Dockerfile and mounts the image. */
    build: async (context: string, tag: string, ...args: string[]) => {
      await buildah('build', '--isolation=chroot', '--format=docker', '--pull-never', `--tag=${tag}`, ...args, context)
      return mounted(tag)
    },
    makeBase: () => makeBase(folder, buildah),
    /** Unmounts everything, so that the folder can be removed. */
    end: () => buildah('rm', '--all'),
  }
}

/**
 * Makes a base image for the Dockerfile, in place of the official one: Debian packages, and the Node.js and npm that run the
 * tests. It trusts the certificate authorities of this machine. Returns its name.
 */
async function makeBase(folder: string, buildah: (...args: string[]) => Promise<string>): Promise<string> {
  const archive = join(folder, 'debian.tar')
  // Unpacked only: running the installation scripts would take three times as long, and nothing here needs them.
  const merged = '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr'
  await run('mmdebstrap', ['--quiet', '--variant=extract', merged, `--include=${PACKAGES}`, 'bookworm', archive])
  const container = await buildah('from', 'scratch')
  const local = join(await buildah('mount', container), 'usr/local')
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${dirname(dirname(local))}`])
  await installNode(process.execPath, local)
  await mkdir(join(local, 'share/ca-certificates'), { recursive: true })
  await cp(CERTIFICATES, join(local, 'share/ca-certificates/all.crt'))
  const env = ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates/all.crt']
  await buildah('config', ...env.map((pair) => `--env=${pair}`), container)
  await buildah('commit', '--rm', container, BASE)
  return BASE
}
const BASE = 'localhost/lockstep-test-node'

/** Copies a Node.js, and the npm of this machine, to the folder that stands for /usr/local. */
export async function installNode(node: string, local: string) {
  await mkdir(join(local, 'lib/node_modules'), { recursive: true })
  await cp(node, join(local, 'bin/node'))
  const npm = dirname(dirname(await realpath(await run('sh', ['-c', 'command -v npm']))))
  await cp(npm, join(local, 'lib/node_modules/npm'), { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
}

/** Builds the image of this working copy. The npm cache of this machine saves downloads; npm verifies what it takes from it. */
export async function buildLockstep(builder: Awaited<ReturnType<typeof startBuilder>>): Promise<Image> {
  const started = performance.now()
  const base = await builder.makeBase()
  const seconds = Math.round((performance.now() - started) / 1000)
  const cache = await run('npm', ['config', 'get', 'cache'])
  await mkdir(cache, { recursive: true })
  const args = [`NODE=${base}`, 'REVISION=0123abc'].map((pair) => `--build-arg=${pair}`)
  const image = await builder.build(ROOT, 'localhost/lockstep', ...args, '--jobs=2', `--volume=${cache}:/root/.npm`)
  console.log(`base image ${seconds} s, image ${Math.round((performance.now() - started) / 1000) - seconds} s`)
  return image
}

const containers = new Set<string>()
const remove = (id: string) => spawnSync('runc', ['delete', '--force', id])
/** Ends all containers. For `afterAll`, before `endProcesses`. */
export const endContainers = () => {
  for (const id of containers) remove(id)
  containers.clear()
}
process.once('exit', endContainers)

/**
 * Runs a program of the image in a container, as compose.yaml and the Kubernetes manifests demand: read-only files, no
 * capabilities, no new privileges, process 1 of its own namespace. It shares the network of this machine. Signals to the
 * process go to the container.
 */
export async function runInImage(
  { folder, config }: Image,
  command: string[],
  settings: Record<string, string>,
  files: (readonly [source: string, target: string])[] = [],
): Promise<RunningProcess> {
  const [uid, gid] = config.User.split(':').map(Number)
  const bundle = await newFolder()
  const id = `lockstep-${randomUUID()}`
  const spec = {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: command,
      env: [...config.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
      cwd: config.WorkingDir,
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: folder, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      { destination: '/run', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=755', 'size=1024k'] },
      ...files.map(([source, destination]) => ({ destination, type: 'bind', source, options: ['bind', 'ro'] })),
    ],
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  }
  await writeFile(join(bundle, 'config.json'), JSON.stringify(spec))
  containers.add(id)
  const running = launch('runc', ['run', `--bundle=${bundle}`, id], { env: { PATH: process.env['PATH'] } })
  void running.ended.then(() => containers.delete(id))
  return running
}

/** The total size of all files in a folder in bytes, without following symlinks. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
