import { useEffect, useRef } from 'react'

/** Whether the component is still mounted, for asynchronous callbacks. */
export function useMounted() {
  const isMounted = useRef(true)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return isMounted
}
