import type { Command } from './command.ts'
import { wrongUsage } from './failure.ts'

const SHARED = ['json', 'url', 'help']

/** The command that prints a completion script for a shell: commands first, then the options of the command. */
export function completionOf(commands: Record<string, Command>): Command {
  return {
    summary: 'print a completion script for bash, zsh or fish',
    usage: '<shell>',
    help: `  bash: eval "$(lockstep completion bash)" in ~/.bashrc
  zsh:  eval "$(lockstep completion zsh)" in ~/.zshrc, after compinit
  fish: lockstep completion fish > ~/.config/fish/completions/lockstep.fish`,
    async run({ args: [shell = ''] }) {
      const write = shells[shell]
      if (!write) throw wrongUsage(`There is no completion for ${shell}: use ${Object.keys(shells).join(', ')}.`)
      console.log(write(Object.entries(commands)))
    },
  }
}

type Entry = [name: string, command: Command]
const optionsOf = ({ options = {} }: Command) => [...Object.keys(options), ...SHARED].map((name) => `--${name}`)
const quoted = (words: string) => `'${words.replaceAll("'", `'\\''`)}'`

const shells: Record<string, (entries: Entry[]) => string> = {
  bash: (entries) => `_lockstep() {
  local words=${quoted(entries.map(([name]) => name).join(' '))}
  if [[ $COMP_CWORD -gt 1 ]]; then
    case "\${COMP_WORDS[1]}" in
${entries.map(([name, command]) => `      ${name}) words=${quoted(optionsOf(command).join(' '))} ;;`).join('\n')}
      *) words='' ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _lockstep lockstep`,
  zsh: (entries) => `_lockstep() {
  if (( CURRENT == 2 )); then
    local -a commands=(${entries.map(([name, { summary }]) => quoted(`${name}:${summary}`)).join(' ')})
    _describe command commands
  else
    case "$words[2]" in
${entries.map(([name, command]) => `      ${name}) compadd -- ${optionsOf(command).join(' ')} ;;`).join('\n')}
    esac
  fi
}
compdef _lockstep lockstep`,
  fish: (entries) =>
    [
      'complete -c lockstep -f',
      ...entries.map(
        ([name, { summary }]) => `complete -c lockstep -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ),
      ...entries.flatMap(([name, command]) =>
        optionsOf(command).map(
          (option) => `complete -c lockstep -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`,
        ),
      ),
    ].join('\n'),
}
