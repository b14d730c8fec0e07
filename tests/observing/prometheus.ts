import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from '@lockstep/testing/client'
import { freePort } from '@lockstep/testing/ports'
import { eventually } from '@lockstep/testing/processes'
import { openSocket } from '@lockstep/testing/socket'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { parse, stringify } from 'yaml'

export const DEPLOY = fileURLToPath(new URL('../../deploy/prometheus', import.meta.url))
export const METRICS_TOKEN = 'hush-hush-token-of-the-metrics'
const PASSWORD = 'hush-hush correct horse'

/** The Grafana dashboard, as far as the tests read it. */
export interface Dashboard {
  panels: { type: string; title: string; description?: string; targets?: { expr: string }[] }[]
  templating: { list: { name: string }[] }
}
/** The Grafana dashboard, as text. */
export const readDashboard = () => readFile(new URL('../../deploy/grafana/lockstep.json', import.meta.url), 'utf8')

/** Every query of the dashboard as Grafana sends it to Prometheus: for all jobs and instances, with `range` as the rate interval. */
export async function dashboardQueries(range: string): Promise<{ title: string; expr: string }[]> {
  const { panels } = JSON.parse(await readDashboard()) as Dashboard
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', range).replaceAll(/\$(job|instance)/g, '.*'),
    })),
  )
}

/** A Prometheus rule file, as far as the tests read it. */
export interface Rules {
  groups: { rules: { alert?: string; record?: string; expr: string; labels?: object; annotations?: object }[] }[]
}
export const readRules = async () => parse(await readFile(join(DEPLOY, 'alerts.yml'), 'utf8')) as Rules

export interface Sample {
  metric: Record<string, string>
  value: [at: number, value: string]
}
export interface Prometheus {
  /** Runs an instant query. Rejects when Prometheus cannot parse it. */
  query: (expr: string) => Promise<Sample[]>
  targets: () => Promise<{ health: string; lastError: string }[]>
  end: () => Promise<void>
}

/** Debian's Prometheus with our configuration, except for the addresses, the token and the scrape interval. */
export async function startPrometheus(targets: string[]): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-prometheus-'))
  const config = parse(await readFile(join(DEPLOY, 'prometheus.yml'), 'utf8')) as {
    global: Record<string, string>
    rule_files: string[]
    scrape_configs: { authorization?: object; static_configs: { targets: string[] }[] }[]
  }
  const [job] = config.scrape_configs
  if (!job) throw new Error('prometheus.yml has no job')
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' }
  config.rule_files = config.rule_files.map((name) => join(DEPLOY, name))
  job.authorization = { credentials: METRICS_TOKEN }
  job.static_configs = [{ targets }]
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, stringify(config))
  const port = await freePort()
  const child = spawn('prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = () => void child.kill('SIGKILL')
  process.once('exit', stop)
  const api = async <T>(path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string }
    if (status !== 'success') throw new Error(`Prometheus does not understand ${path}: ${error}`)
    return data
  }
  const ready = () => fetch(`http://127.0.0.1:${port}/-/ready`).then(({ status }) => status === 200)
  await eventually('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus did not start: ${output}`)
    return ready().catch(() => false)
  })
  return {
    query: async (expr) =>
      (await api<{ result: Sample[] }>(`query?${new URLSearchParams({ query: expr }).toString()}`)).result,
    targets: async () =>
      (await api<{ activeTargets: { health: string; lastError: string }[] }>('targets')).activeTargets,
    end: async () => {
      child.kill('SIGTERM')
      await ended
      process.off('exit', stop)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Runs promtool; returns whether it succeeded, and its output. */
export const promtool = (args: string[], input?: string) =>
  new Promise<{ isSuccess: boolean; output: string }>((resolve) => {
    const child = execFile('promtool', args, { cwd: DEPLOY, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: stdout + stderr }),
    )
    child.stdin?.end(input ?? '')
  })

/**
 * Mixed traffic until `isOver`: logins, boards, changes, a rule, a webhook, files, sockets that resume, and rejected requests.
 * The writer uses the first instance, the viewers use all of them.
 */
export async function makeTraffic(baseUrls: string[], isOver: () => boolean): Promise<void> {
  const anonymous = new Client(baseUrls[0] as string)
  const username = `user-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  await anonymous.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token } = await anonymous.call('login', { body: { username: email, password: PASSWORD } })
  const api = new Client(baseUrls[0] as string, access_token)
  const { token } = await api.call('createToken', { body: { name: 'Bot', scope: 'read' } })
  const bot = new Client(baseUrls[0] as string, token)
  const { id: board_id } = await api.call('createBoard', { body: { title: 'Plan' } })
  const columns = await Promise.all(
    ['To do', 'Done'].map((title) => api.call('createColumn', { params: { board_id }, body: { title } })),
  )
  const [todo = '', done = ''] = columns.map(({ id }) => id)
  const label = await api.call('createLabel', { params: { board_id }, body: { name: 'Now' } })
  const rule = { trigger_type: 'LABEL_ADDED', trigger_label_id: label.id, action_type: 'MOVE_TO_COLUMN' } as const
  const body = { name: 'Labelled cards are done', ...rule, action_column_id: done }
  await api.call('createRule', { params: { board_id }, body })
  const receiver = await WebhookReceiver.start()
  await api.call('createWebhook', { params: { board_id }, body: { name: 'CI', url: receiver.url } })
  const viewers = baseUrls.map((baseUrl) => openSocket({ baseUrl, token: access_token }, board_id, { seq: true }))
  const [hello] = await Promise.all(viewers.map((viewer) => viewer.next('hello')))
  const epoch = String(hello?.message['epoch'])
  try {
    while (!isOver()) {
      const params = { board_id, column_id: todo }
      const { id: card_id } = await api.call('createCard', { params, body: { title: 'Card' } })
      await api.call('addCardLabel', { params: { card_id, label_id: label.id } })
      const file = new File(['x'.repeat(2_000)], 'note.txt')
      const { id: attachment_id } = await api.call('createAttachment', { params: { card_id }, body: { file } })
      await api.send('getAttachment', { params: { attachment_id } })
      await api.call('getBoard', { params: { board_id } })
      await bot.call('getBoard', { params: { board_id } })
      await api.fail('getBoard', { params: { board_id: randomUUID() } })
      await api.call('deleteCard', { params: { card_id } })
      await anonymous.call('login', { body: { username: email, password: PASSWORD } })
      // A client that resumes: the missed events are still in the ring buffer.
      using back = openSocket(api, board_id, { since: `${epoch}.1` })
      await back.next('card.created')
      await pause(20)
    }
  } finally {
    for (const viewer of viewers) viewer.terminate()
    await receiver.close()
  }
}
