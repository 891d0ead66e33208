/**
 * What each shell asks with; where there is nothing to offer, it goes on with the names of files. `npx trinity` is completed too, by
 * the package of the current folder: `npx` itself would take too long at a key.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_trinity() {
  local IFS=$'\\n' first=1 program=trinity
  if [[ \${COMP_WORDS[0]} == npx ]]; then
    if [[ $COMP_CWORD -lt 2 || \${COMP_WORDS[1]} != trinity ]]; then return; fi
    first=2 program=node_modules/.bin/trinity
  elif ! type trinity >/dev/null 2>&1; then program=node_modules/.bin/trinity
  fi
  COMPREPLY=($($program completion --words -- "\${COMP_WORDS[@]:first:COMP_CWORD-first+1}" 2>/dev/null))
  if [[ \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _trinity trinity
complete -p npx >/dev/null 2>&1 || complete -o default -F _trinity npx
`,
  zsh: `#compdef trinity npx
_trinity() {
  local -a found
  local first=2 program=trinity
  if [[ $words[1] == npx ]]; then
    if (( CURRENT < 3 )) || [[ $words[2] != trinity ]]; then _files; return; fi
    first=3 program=node_modules/.bin/trinity
  elif (( ! $+commands[trinity] && ! $+functions[trinity] )); then program=node_modules/.bin/trinity
  fi
  found=(\${(f)"$($program completion --words -- "\${(@)words[first,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} == 0 )); then _files; elif [[ $found[1] == *= ]]; then compadd -S '' -- $found; else compadd -- $found; fi
}
compdef _trinity trinity
(( $+_comps[npx] )) || compdef _trinity npx
`,
  fish: `function __trinity_words
  set -l words (commandline -opc)
  set -l program trinity
  if test $words[1] = npx
    set -e words[1]
    set program node_modules/.bin/trinity
  else if not type -q trinity
    set program node_modules/.bin/trinity
  end
  set -e words[1]
  $program completion --words -- $words (commandline -ct) 2>/dev/null
end
complete -c trinity -a '(__trinity_words)'
complete -c npx -n 'test "$(commandline -opc)[2]" = trinity' -a '(__trinity_words)'
`,
}

/** Where the scripts go, for `--help`. */
export const WHERE = `
Put it where the shell reads it, and open a new one:
  trinity completion bash >> ~/.bashrc
  trinity completion zsh >> ~/.zshrc      (below the line with compinit)
  trinity completion fish > ~/.config/fish/conf.d/trinity.fish

\`npx trinity\` is completed too, in a folder whose node_modules has the package.
`
