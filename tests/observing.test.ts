import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scrape } from '@lockstep/testing/metrics'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses, eventually, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { databaseUrl, onServer, REDIS } from '@lockstep/testing/template-database'
import { WEBHOOK_SETTINGS } from '@lockstep/testing/webhook-receiver'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { stringify } from 'yaml'
import { definitions } from '../packages/server/src/telemetry/metric-definitions.ts'
import {
  type Dashboard,
  DEPLOY,
  dashboardQueries,
  METRICS_TOKEN,
  makeTraffic,
  type Prometheus,
  promtool,
  readDashboard,
  readRules,
  startPrometheus,
} from './observing/prometheus.ts'

/** Panels that may stay at zero in a healthy system. Their queries must still return data. */
const mayBeZero = new Set([
  'Rate limits not counted in Redis',
  'Failed requests, last hour',
  'Requests rejected with 503',
  'Requests rejected by rate limits',
  'Slow clients',
  'Memory for slow clients',
  'Redis is degraded',
  'Instances without Redis',
  'Statements waiting for a connection',
  'Errors of PostgreSQL',
  'Changes waiting for their board',
  'Logins waiting for password hashing',
  'Background jobs',
  'Paused webhooks, last hour',
  // These depend on timing and on the load of the machine.
  'Requests in progress',
  'Requests waiting to start',
  'Reads of the event log',
  'Clients that resumed',
  'Garbage collection',
])

describe('Prometheus', () => {
  const name = `lockstep_test_observing_${process.pid}`
  let services: ServiceProcess[] = []
  let prometheus: Prometheus
  /** Continues while Prometheus is queried: a rate needs two scrapes. */
  let traffic: Promise<unknown> | undefined
  let isOver = false
  const targets: string[] = []

  beforeAll(async () => {
    await onServer((client) => client.query(`create database ${name} template ${inject('template')}`))
    // The first instance is scraped on the service port, the second on its separate metrics port.
    const metricsPort = String(await freePort())
    const secrets = { METRICS_TOKEN, JWT_SECRET: randomUUID() }
    const settings = { ...WEBHOOK_SETTINGS, DATABASE_URL: databaseUrl(name), REDIS_URL: REDIS, ...secrets }
    const first = await startServiceProcess(settings)
    services = [first, await startServiceProcess({ ...settings, METRICS_PORT: metricsPort })]
    targets.push(new URL(first.baseUrl).host, `127.0.0.1:${metricsPort}`)
    prometheus = await startPrometheus(targets)
    const baseUrls = services.map(({ baseUrl }) => baseUrl)
    traffic = makeTraffic(baseUrls, () => isOver)
    traffic.catch(() => {})
  }, 180_000)
  afterAll(async () => {
    isOver = true
    await traffic
    await prometheus?.end()
    await endProcesses()
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  })

  test('[OBS-8] promtool accepts the metrics', async () => {
    for (const target of targets) {
      const { text } = await scrape(`http://${target}`, METRICS_TOKEN)
      expect(await promtool(['check', 'metrics'], text)).toEqual({ isSuccess: true, output: '' })
    }
    const wrong = '# HELP lockstep_things How many.\n# TYPE lockstep_things counter\nlockstep_things 1\n'
    expect((await promtool(['check', 'metrics'], wrong)).isSuccess).toBe(false)
  })

  test('[OBS-8] scrapes every instance, on the metrics port or on the service port', async () => {
    const found = await eventually('both are scraped', async () => {
      const up = await prometheus.query('up{job="lockstep"} == 1')
      return up.length === 2 && up
    })
    expect(new Set(found.map(({ metric }) => metric['instance']))).toEqual(new Set(targets))
    expect((await prometheus.targets()).map(({ lastError }) => lastError)).toEqual(['', ''])
    const [versions] = await prometheus.query('count(lockstep_build_info)')
    expect(versions?.value[1]).toBe('2')
  })

  test('[OBS-9] every query of the dashboard returns data, and traffic changes it', async () => {
    const queries = await dashboardQueries('1m')
    const findMissing = async () => {
      const unchanged = new Set(queries.map(({ title }) => title).filter((title) => !mayBeZero.has(title)))
      const empty: string[] = []
      for (const { title, expr } of queries) {
        const samples = await prometheus.query(expr)
        if (samples.length === 0) empty.push(`${title}: ${expr}`)
        if (samples.some(({ value: [, value] }) => Number(value) > 0)) unchanged.delete(title)
      }
      return [...empty, ...unchanged]
    }
    let missing: string[] = []
    const isComplete = async () => {
      missing = await findMissing()
      return missing.length === 0
    }
    await eventually('all queries return data', isComplete, 60_000).catch(() => {})
    expect(missing).toEqual([])
    await expect(prometheus.query('rate(lockstep_sockets')).rejects.toThrow('does not understand')
  })

  test('[OBS-10] accepts every alert expression, and no alert fires in a healthy system', async () => {
    const { groups } = await readRules()
    for (const { expr } of groups.flatMap(({ rules }) => rules)) await prometheus.query(expr)
    const alertNames = (samples: { metric: Record<string, string> }[]) =>
      samples.map(({ metric }) => metric['alertname'])
    expect(alertNames(await prometheus.query('ALERTS{alertstate="firing"}'))).toEqual([])
    const isRecorded = async () => (await prometheus.query('lockstep:slow_deliveries:ratio_rate5m')).length === 1
    await eventually('the recording rules have data', isRecorded, 60_000)
  })

  test('[OBS-5] delivery latency is measured on the instance that committed an event and on the other', async () => {
    const counts = await prometheus.query('sum by (source) (lockstep_delivery_seconds_count)')
    const bySource = new Map(counts.map(({ metric, value }) => [metric['source'], Number(value[1])]))
    expect(bySource.get('here')).toBeGreaterThan(0)
    expect((bySource.get('bus') ?? 0) + (bySource.get('log') ?? 0)).toBeGreaterThan(0)
  })
})

describe('the alerts', () => {
  /** Replaces the expression of every alert. Returns the alerts whose unit tests then fail, as `alert: test`. */
  async function failing(expr: string): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'lockstep-alerts-'))
    try {
      const rules = await readRules()
      for (const rule of rules.groups.flatMap((group) => group.rules)) if (rule.alert) rule.expr = expr
      await writeFile(join(folder, 'alerts.yml'), stringify(rules))
      await writeFile(join(folder, 'alerts.test.yml'), await readFile(join(DEPLOY, 'alerts.test.yml'), 'utf8'))
      const { isSuccess, output } = await promtool(['test', 'rules', join(folder, 'alerts.test.yml')])
      expect(isSuccess).toBe(false)
      return [...output.matchAll(/name: (.+),\s+alertname: (\w+)/g)]
        .map(([, test, alert]) => `${alert}: ${test}`)
        .sort()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  test('[OBS-10] promtool accepts the configuration, and the unit tests of the alerts pass', async () => {
    for (const file of ['prometheus.yml', 'compose.yml'])
      expect((await promtool(['check', 'config', file])).isSuccess).toBe(true)
    expect(await promtool(['test', 'rules', 'alerts.test.yml'])).toMatchObject({ isSuccess: true })
  })

  test('[OBS-10] each alert has a unit test in which it fires and one in which it does not, and both detect a wrong expression', async () => {
    const { groups } = await readRules()
    const alerts = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])).sort()
    expect(alerts.length).toBeGreaterThan(11)
    const wrong = (alert: string) =>
      `${alert}: ${alert === 'LockstepNotScraped' ? 'no instance is known' : 'everything is wrong'}`
    expect(await failing('vector(0) > 1')).toEqual(alerts.map(wrong))
    const well = alerts.map((alert) => `${alert}: all is well, or nearly`)
    // An alert that always fires also fails the test in which it should fire, because its labels differ. This one has none.
    const differing = alerts.filter((alert) => alert !== 'LockstepNotScraped').map(wrong)
    expect(await failing('vector(1) > 0')).toEqual([...differing, ...well].sort())
  })

  test('[OBS-10] each alert has a severity, a summary and a runbook', async () => {
    const { groups } = await readRules()
    const page = await readFile(new URL('../docs/observing.md', import.meta.url), 'utf8')
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => (heading as string).toLowerCase())
    for (const rule of groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert)) {
      expect(rule.labels, rule.alert).toEqual({ severity: expect.stringMatching(/^(page|ticket)$/) })
      expect(rule.annotations, rule.alert).toMatchObject({ summary: expect.stringMatching(/\w{3}/) })
      const { runbook = '' } = rule.annotations as { runbook?: string }
      expect(runbook).toBe(`docs/observing.md#${rule.alert?.toLowerCase()}`)
      expect(headings, runbook).toContain(rule.alert?.toLowerCase())
    }
  })
})

test('[OBS-9] every panel of the dashboard says what it shows, and selects the chosen job and instances', async () => {
  const { panels, templating } = JSON.parse(await readDashboard()) as Dashboard
  const shown = panels.filter(({ type }) => type !== 'row')
  expect(shown.filter(({ description = '' }) => description.length < 15).map(({ title }) => title)).toEqual([])
  expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length)
  const selectors = shown.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => expr.match(/\{[^}]*\}/g) ?? []))
  const isSelecting = (selector: string) => selector.startsWith('{job=~"$job",instance=~"$instance"')
  expect(selectors.filter((selector) => !isSelecting(selector))).toEqual([])
  expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'instance'])
})

test('[OBS-10] no alert depends on the name of the job', async () => {
  const { groups } = await readRules()
  const rules = groups.flatMap((group) => group.rules)
  expect(rules.filter(({ expr }) => /\bjob *(=|!)/.test(expr))).toEqual([])
})

test('[OBS-9] every metric of the service is on the dashboard, and alerts use only existing metrics', async () => {
  const shown = await readDashboard()
  const names = Object.keys(definitions)
  expect(names.filter((name) => !shown.includes(name))).toEqual([])
  const rules = await readFile(join(DEPLOY, 'alerts.yml'), 'utf8')
  const used = [...`${shown}${rules}`.matchAll(/lockstep_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )
  expect([...new Set(used)].filter((name) => !names.includes(name))).toEqual([])
})
