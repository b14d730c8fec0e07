import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Icon, type IconName } from './icon.tsx'
import { Keys } from './keys.tsx'

export interface MenuItem {
  label: string
  onSelect: () => void
  icon?: IconName
  /** The shortcut for the same action. */
  keys?: string
  isDanger?: boolean
  isDisabled?: boolean
}
interface MenuProps {
  /** Accessible name of the button. */
  label: string
  /** `undefined` is a separator. */
  items: readonly (MenuItem | undefined)[]
  children: ReactNode
  className?: string
  tabIndex?: number
}

/** A menu button, following the ARIA Authoring Practices: arrow keys, Home, End, first letters, Escape. */
export function Menu({ label, items, children, className = 'icon-button', tabIndex }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const trigger = useRef<HTMLButtonElement>(null)
  const popup = useRef<HTMLDivElement>(null)

  // Disabled items can't take the focus.
  const choices = () => [...(popup.current?.querySelectorAll<HTMLElement>('[role=menuitem]:enabled') ?? [])]
  const position = () => {
    const [button, list] = [trigger.current?.getBoundingClientRect(), popup.current]
    if (!button || !list) return
    const { width, height } = list.getBoundingClientRect()
    const below = button.bottom + 4
    list.style.left = `${Math.max(8, Math.min(button.left, document.documentElement.clientWidth - width - 8))}px`
    list.style.top = `${below + height > innerHeight - 8 ? Math.max(8, button.top - height - 4) : below}px`
  }
  const open = () => {
    // The items must be rendered before the popup can be measured, positioned and focused.
    flushSync(() => setOpen(true))
    popup.current?.showPopover()
    position()
    choices()[0]?.focus()
  }
  const close = () => {
    popup.current?.hidePopover()
    trigger.current?.focus()
  }
  const handleKey = (event: KeyboardEvent) => {
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
        tabIndex={tabIndex}
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
        onKeyDown={handleKey}
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
                className={item.isDanger ? 'menu-item is-danger' : 'menu-item'}
                disabled={item.isDisabled}
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
              // biome-ignore lint/suspicious/noArrayIndexKey: separators have no other key
              <hr key={i} />
            ),
          )}
      </div>
    </>
  )
}
