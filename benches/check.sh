#!/usr/bin/env bash
# How long `cargo charter check` takes in a release build, with 10 and with 100 resources of 15 fields each, which
# `cargo charter new` writes into an empty folder. Prints the fastest, the middle and the slowest of nine.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fields=(name:string! note:text 'kind:enum(rental|sale|service)=rental' 'status:code(1=Open|2=Closed)=1' 'code:string(64)'
    'barcode:string(64)' is_active:boolean=true 'weight:decimal(12,4)' 'price:decimal(2)' 'owner:ref(user)'
    starts_at:timestamp ends_at:timestamp day:date size:integer more:json)

cargo build --quiet --release --manifest-path "$root/Cargo.toml" --package charter-codegen
charter=${CARGO_TARGET_DIR:-$root/target}/release/cargo-charter
for count in 10 100; do
    mkdir "$work/app$count"
    cd "$work/app$count"
    for number in $(seq "$count"); do "$charter" new "thing$number" "${fields[@]}" > /dev/null; done
    for _ in 1 2 3 4 5 6 7 8 9; do
        begun=$(date +%s%N)
        "$charter" check > /dev/null
        echo $((($(date +%s%N) - begun) / 1000))
    done | sort -n | awk -v count="$count" '{ took[NR] = $1 / 1000 } END { printf "%d resources: %.1f, %.1f, %.1f ms\n", count, took[1], took[5], took[9] }'
done
