import { useEffect, useState } from 'react'

/** The secret of an invitation or reset link. It is in the fragment, because that is not sent to any server. */
const tokenInAddress = () => /^#([\w-]{43})$/.exec(location.hash)?.[1]

/** The secret in the address. It stays when the skip link changes the fragment, and changes when another link is pasted. */
export function useLinkToken(): string | undefined {
  const [token, setToken] = useState(tokenInAddress)
  useEffect(() => {
    const handleChange = () => setToken((now) => tokenInAddress() ?? now)
    addEventListener('hashchange', handleChange)
    return () => removeEventListener('hashchange', handleChange)
  }, [])
  return token
}
