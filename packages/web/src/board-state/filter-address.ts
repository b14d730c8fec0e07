import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { Store, useStore } from '../ui/store.ts'
import { togglePart } from './filter.ts'

const filterInUrl = (): string => new URLSearchParams(location.search).get('q') ?? ''
const filter = new Store('')

/** The URL is updated with a delay: browsers limit how often it can change. */
const DEBOUNCE_MS = 300
let timer: ReturnType<typeof setTimeout> | undefined

/** Sets the filter. It is part of the URL, so that it can be shared and survives a reload. */
export function setFilter(text: string) {
  filter.set(text)
  clearTimeout(timer)
  timer = setTimeout(writeFilter, DEBOUNCE_MS)
}

/** Updates the URL now, if it is not up to date. */
export function writeFilter() {
  if (timer === undefined) return
  clearTimeout(timer)
  timer = undefined
  navigate(location.pathname + filterQuery(), { replace: true })
}

export const toggleFilter = (part: string) => setFilter(togglePart(filter.get(), part))
export const hasFilter = (): boolean => filter.get() !== ''

/** The query string of this board's URLs. */
export const filterQuery = (): string => (filter.get() ? `?q=${encodeURIComponent(filter.get())}` : '')

/** The filter of the open board. It starts with the one in the URL. */
export function useFilter(): string {
  // Set before the first render.
  useState(() => filter.set(filterInUrl()))
  useEffect(() => {
    const read = () => filter.set(filterInUrl())
    addEventListener('popstate', read)
    return () => {
      removeEventListener('popstate', read)
      clearTimeout(timer)
      timer = undefined
    }
  }, [])
  return useStore(filter)
}
