import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Icon, type IconName } from './icon.tsx'
import { Keys } from './keys.tsx'

export interface MenuItem {
  label: string
  onSelect: () => void
  icon?: IconName
  /** The key that does the same. */
  keys?: string
  is_danger?: boolean
  is_disabled?: boolean
}
interface MenuProps {
  /** What the button says. */
  label: string
  /** Undefined is a line between groups. */
  items: readonly (MenuItem | undefined)[]
  children: ReactNode
  className?: string
  tab_index?: number
}

/** A button with a menu, by the pattern of the ARIA guide: arrows, Home, End, first letters, Escape. */
export function Menu({ label, items, children, className = 'icon-button', tab_index }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const trigger = useRef<HTMLButtonElement>(null)
  const popup = useRef<HTMLDivElement>(null)

  // What is disabled takes no focus: the arrows would stop before it.
  const choices = () => [...(popup.current?.querySelectorAll<HTMLElement>('[role=menuitem]:enabled') ?? [])]
  const place = () => {
    const [button, list] = [trigger.current?.getBoundingClientRect(), popup.current]
    if (!button || !list) return
    const { width, height } = list.getBoundingClientRect()
    const below = button.bottom + 4
    list.style.left = `${Math.max(8, Math.min(button.left, document.documentElement.clientWidth - width - 8))}px`
    list.style.top = `${below + height > innerHeight - 8 ? Math.max(8, button.top - height - 4) : below}px`
  }
  const open = () => {
    // Its items must be there before it can be measured, placed and given the focus.
    flushSync(() => setOpen(true))
    popup.current?.showPopover()
    place()
    choices()[0]?.focus()
  }
  const close = () => {
    popup.current?.hidePopover()
    trigger.current?.focus()
  }
  const steer = (event: KeyboardEvent) => {
    const all = choices()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = {
      ArrowDown: all[(at + 1) % all.length],
      ArrowUp: all.at(at - 1),
      Home: all[0],
      End: all.at(-1),
    }[event.key]
    const letter = event.key.length === 1 ? event.key.toLowerCase() : undefined
    const found =
      letter && [...all.slice(at + 1), ...all].find((item) => item.textContent?.toLowerCase().startsWith(letter))
    if (event.key === 'Tab') popup.current?.hidePopover()
    else if (event.key === 'Escape') close()
    else if (to || found) (to ?? (found as HTMLElement)).focus()
    else if (event.key !== 'Enter' && event.key !== ' ') return
    event.stopPropagation()
    if (event.key !== 'Enter' && event.key !== ' ' && event.key !== 'Tab') event.preventDefault()
  }

  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        tabIndex={tab_index}
        onClick={(event) => {
          event.stopPropagation()
          if (isOpen) close()
          else open()
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === ' ') event.stopPropagation()
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          event.stopPropagation()
          open()
        }}
      >
        {children}
      </button>
      <div
        ref={popup}
        id={id}
        popover="auto"
        className="menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={steer}
        onToggle={(event) => setOpen(event.newState === 'open')}
      >
        {isOpen &&
          items.map((item, i) =>
            item ? (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                tabIndex={-1}
                className={item.is_danger ? 'menu-item is-danger' : 'menu-item'}
                disabled={item.is_disabled}
                onClick={(event) => {
                  event.stopPropagation()
                  close()
                  item.onSelect()
                }}
              >
                {item.icon ? <Icon name={item.icon} /> : <span className="icon" />}
                <span>{item.label}</span>
                {item.keys && <Keys keys={item.keys} />}
              </button>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines between groups have nothing else
              <hr key={i} />
            ),
          )}
      </div>
    </>
  )
}
