interface ServerLimits {
  max_attachment_bytes: number
  has_api_docs: boolean
  /** Whether deleted cards and columns can be restored. */
  has_trash: boolean
  has_webhooks: boolean
}

let requested: Promise<ServerLimits | undefined> | undefined

async function fetchLimits(): Promise<ServerLimits | undefined> {
  try {
    const response = await fetch('/app/limits.json')
    return (await response.json()) as ServerLimits
  } catch {
    requested = undefined
    return undefined
  }
}

/** What the server is configured to allow. `undefined` offline and if the request fails; the next call tries again. */
export async function serverLimits(): Promise<ServerLimits | undefined> {
  if (navigator.onLine) requested ??= fetchLimits()
  return requested
}
