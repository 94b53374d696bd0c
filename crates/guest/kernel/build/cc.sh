#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
# The compiler of a kernel, with headers that most files read compiled in advance: to read them is more than half of the work.
# What does not compile that way is compiled in the usual way.

headers=${0%/*}/headers.h

# Compiles a file with the headers. Names of the file are defined behind them, since nothing may be defined before them that they
# mention. Dependencies are left out: the tree is built once.
fast() {
    output= source= depends=
    names=
    for word do
        shift
        case $word in
            -DKBUILD_*=* | -D__KBUILD_*=*)
                word=${word#-D}
                names="$names
#define ${word%%=*} ${word#*=}"
                continue
                ;;
            -Wp,-MMD,*) depends=${word#-Wp,-MMD,} && continue ;;
            *.o) output=$word ;;
            *.c) source=$word ;;
        esac
        set -- "$@" "$word"
    done
    if [ ! -e "$headers.gch" ]; then
        precompile "$@" 2>/dev/null || : >"$headers.unusable"
    fi
    [ -e "$headers.gch" ] &&
        printf '%s\n' "$names" >"$output.h" &&
        gcc -w -include "$headers" -include "$output.h" "$@" 2>/dev/null &&
        printf '%s: %s\n' "$output" "$source" >"$depends"
}

# Compiles the headers as this file would be: with the command, but for its files and the headers that it includes itself.
precompile() {
    before=
    for word do
        shift
        case $before$word in
            -c | -o | -include | *.o | *.c | -include*) ;;
            *) set -- "$@" "$word" ;;
        esac
        before=
        [ "$word" = -include ] && before=$word
    done
    gcc -w "$@" -x c-header -c -o "$headers.gch" "$headers"
}

case " $* " in
    *" -D__KERNEL__ "*" -c -o "[!.]*)
        for source do :; done
        case $source in
            # Code that kernels share with other projects has headers of its own.
            lib/*/*) ;;
            block/* | crypto/* | drivers/* | fs/* | init/* | ipc/* | kernel/* | lib/* | mm/* | net/* | security/*)
                [ ! -e "$headers.unusable" ] && fast "$@" && exit
                ;;
        esac
        ;;
esac
exec gcc "$@"
