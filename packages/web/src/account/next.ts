/** Where to go after the login. Only paths of this client: a link must not lead elsewhere through it. */
export const nextOf = (search: string): string => {
  const next = new URLSearchParams(search).get('next') ?? ''
  return /^\/(?![/\\])/.test(next) ? next : '/boards'
}
