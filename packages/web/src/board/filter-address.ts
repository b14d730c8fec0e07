import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { Store, useStore } from '../ui/store.ts'
import { togglePart } from './filter.ts'

const inAddress = (): string => new URLSearchParams(location.search).get('q') ?? ''
const filter = new Store('')

/** The address follows when nobody types any more: browsers refuse to change it for every letter. */
const QUIET_MS = 300
let timer: ReturnType<typeof setTimeout> | undefined

/** The filter stands in the address, so that it can be sent to somebody and outlives a reload. */
export function setFilter(text: string) {
  filter.set(text)
  clearTimeout(timer)
  timer = setTimeout(() => navigate(location.pathname + filterQuery(), { replace: true }), QUIET_MS)
}

export const toggleFilter = (part: string) => setFilter(togglePart(filter.get(), part))
export const hasFilter = (): boolean => filter.get() !== ''

/** What an address of this board ends with. */
export const filterQuery = (): string => (filter.get() ? `?q=${encodeURIComponent(filter.get())}` : '')

/** The filter of the board that is open; each begins with the one in its address. */
export function useFilter(): string {
  // Before the first cards are drawn.
  useState(() => filter.set(inAddress()))
  useEffect(() => {
    const read = () => filter.set(inAddress())
    addEventListener('popstate', read)
    return () => {
      removeEventListener('popstate', read)
      clearTimeout(timer)
    }
  }, [])
  return useStore(filter)
}
