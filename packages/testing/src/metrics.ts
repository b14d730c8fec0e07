/** One scrape of `/metrics`. */
export class Scrape {
  readonly text: string
  readonly series = new Map<string, number>()

  constructor(text: string) {
    this.text = text
    for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
      const end = line.lastIndexOf(' ')
      this.series.set(line.slice(0, end), Number(line.slice(end + 1)))
    }
  }

  /** The sum of all series with a name and matching labels. */
  sum(name: string, labels: Record<string, string> = {}): number {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const fits = (key: string) =>
      (key === name || key.startsWith(`${name}{`)) && wanted.every((each) => key.includes(each))
    return [...this.series].filter(([key]) => fits(key)).reduce((sum, [, value]) => sum + value, 0)
  }
}

/** Scrapes `/metrics` like Prometheus. */
export async function scrape(baseUrl: string, token?: string): Promise<Scrape> {
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const response = await fetch(`${baseUrl}/metrics`, { headers })
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  return new Scrape(await response.text())
}
