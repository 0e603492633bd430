# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2207 # words have no blanks
#
# Completion of ubfab(8) for bash. Needs nothing but bash; devices are those
# that are there.

_ubfab_devices()
{
	local f
	for f in /dev/ubfab*; do
		[ ! -e "$f" ] || echo "${f#/dev/}"
	done
}

# _ubfab_words OBJECT VERB WORD...: what may come after these
_ubfab_words()
{
	local last=${*: -1}

	case $# in
	0)
		echo "fabric node window group stats monitor up down help"
		return
		;;
	1)
		case $1 in
		fabric)		echo "show add del set format help" ;;
		node|window|group|stats)	echo "show help" ;;
		monitor)	echo "help" ;;
		up|down)	compgen -f -- "${COMP_WORDS[COMP_CWORD]}" ;;
		esac
		return
		;;
	esac
	case $2-$last in
	add-dev)
		compgen -G '/sys/class/infiniband/*' | sed 's,.*/,,'
		return
		;;
	esac
	case $last in
	dev|del|set|format)
		_ubfab_devices
		return
		;;
	node|nodes|bytes|name|port|peer|detect_ms|window|slot|member|level)
		return		# a value
		;;
	esac
	case $1-$2 in
	fabric-show)	echo "dev" ;;
	fabric-add)
		case $#-${3-} in
		2-)	echo "loop rdma" ;;
		*-rdma)	echo "dev node peer name port bytes" ;;
		*)	echo "nodes node bytes" ;;
		esac
		;;
	fabric-set)	echo "detect_ms up" ;;
	fabric-format)	echo "force" ;;
	node-show)	echo "dev node" ;;
	window-show)	echo "dev window" ;;
	group-show)	echo "dev slot member" ;;
	stats-show)	echo "dev level" ;;
	esac
}

_ubfab()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=() i

	COMPREPLY=()
	case $word in
	-*)
		COMPREPLY=($(compgen -W "--json --pretty --details --help --version" -- "$word"))
		return
		;;
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*)	;;
		*)	before+=("${COMP_WORDS[i]}") ;;
		esac
	done
	COMPREPLY=($(compgen -W "$(_ubfab_words "${before[@]}")" -- "$word"))
}

complete -F _ubfab ubfab
