import { demand, fits } from './demand.ts'
import { row } from './rows.ts'
import { object, text } from './shapes.ts'

row(
  '1-health',
  'A health endpoint exists: GET /health returns an object with a string field status and two further string fields.',
  async ({ anybody }) => {
    const health = await anybody.get<Record<string, unknown>>('/health')
    fits(object('an object', { status: text }), health, 'the health')
    const further = Object.entries(health).filter(([name, value]) => name !== 'status' && typeof value === 'string')
    demand(further.length === 2, `${further.length} further string fields, instead of 2`)
  },
)

for (const path of ['/docs', '/redoc']) {
  row(`1${path.replace('/', '-')}`, `Interactive API documentation is served at ${path}.`, async ({ anybody }) => {
    const { status, headers } = await anybody.send('GET', path)
    // It may be served one redirect further, such as /docs/.
    const isThere = status === 200 || (status >= 301 && status <= 308 && !!headers.get('location')?.includes(path))
    demand(isThere, `GET ${path} returns ${status}`)
    if (status === 200) demand(!!headers.get('content-type')?.includes('text/html'), `${path} is no page`)
  })
}
