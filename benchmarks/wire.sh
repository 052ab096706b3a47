#!/bin/bash
# wire.sh RATE PROGRAM..: two ranks of a program, in two network namespaces with a wire of that rate (1gbit) between them.
[[ -n ${WEFT_WIRE:-} ]] || exec env WEFT_WIRE=1 unshare -n -m "$0" "$@"
set -e
rate=$1
shift
# The far namespace lives as long as this script has the pipe open.
exec {hold}> >(exec unshare -n -u sh -c 'hostname far; exec cat')
far=$!
until [[ $(nsenter -t "$far" -u hostname) == far ]]; do sleep 0.01; done
ip link set lo up
ip link add near0 type veth peer name far0 netns "$far"
ip addr add 10.77.0.1/24 dev near0
ip link set near0 up
nsenter -t "$far" -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev far0; ip link set far0 up'
for inside in "" "nsenter -t $far -n"; do
  # A queue that loses nothing, and a bucket of some ms, as timers may come late on few processors.
  $inside tc qdisc add dev "$([[ -z $inside ]] && echo near0 || echo far0)" root tbf rate "$rate" burst 512k limit 32m
done
# mpirun starts what runs on another host by an agent: `agent HOST COMMAND..`.
agent=$(mktemp)
trap 'rm -f "$agent"' EXIT
printf '#!/bin/bash\nshift\nexec nsenter -t %s -n -u sh -c "$*"\n' "$far" >"$agent"
chmod +x "$agent"
net=10.77.0.0/24
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 WEFT_NUM_THREADS=${WEFT_NUM_THREADS:-1} WEFT_CACHE=${WEFT_CACHE:-}
mpirun -n 2 --host 10.77.0.1:1,10.77.0.2:1 --bind-to none --quiet -x WEFT_NUM_THREADS -x WEFT_CACHE \
  --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include "$net" --mca oob_tcp_if_include "$net" \
  "$@" {hold}>&-
