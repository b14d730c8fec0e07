/** Where to go after the login. Only paths of this client, to prevent open redirects. */
export const nextOf = (search: string): string => {
  const next = new URLSearchParams(search).get('next') ?? ''
  return /^\/(?![/\\])/.test(next) ? next : '/boards'
}
