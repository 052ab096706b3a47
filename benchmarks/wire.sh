#!/bin/bash
# wire.sh RATE RANKS PROGRAM..: so many ranks of a program, each in a network namespace with a wire of that rate (1gbit) to
# a switch.
[[ -n ${WEFT_WIRE:-} ]] || exec env WEFT_WIRE=1 unshare -n -m "$0" "$@"
set -e
rate=$1 ranks=$2
shift 2
# A namespace lives as long as this script has the pipe open. The first host is here, the switch is another one.
live() { # VARIABLE NAME
  exec {hold}> >(exec unshare -n -u sh -c "hostname $2; exec cat")
  printf -v "$1" %s "$!"
  until [[ $(nsenter -t "$!" -u hostname) == "$2" ]]; do sleep 0.01; done
}
live switch switch
nsenter -t "$switch" -n sh -c 'ip link set lo up; echo 1 >/proc/sys/net/ipv4/ip_forward' || exit 1
hosts=() agent=$(mktemp)
trap 'rm -f "$agent"' EXIT
printf '#!/bin/bash\ncase $1 in\n' >"$agent"
for ((i = 1; i <= ranks; ++i)); do
  inside=""
  if ((i > 1)); then
    live host "host$i"
    inside="nsenter -t $host -n"
    printf '10.77.0.%s) shift; exec nsenter -t %s -n -u sh -c "$*" ;;\n' "$i" "$host" >>"$agent"
  fi
  ip link add wire netns "$([[ -z $inside ]] && echo $$ || echo "$host")" type veth peer name "port$i" netns "$switch"
  $inside ip link set lo up
  $inside ip addr add "10.77.0.$i/24" dev wire
  $inside ip link set wire up
  # The switch answers for all hosts, and knows where each is.
  nsenter -t "$switch" -n sh -c "ip link set port$i up; ip route add 10.77.0.$i/32 dev port$i; echo 1 >/proc/sys/net/ipv4/conf/port$i/proxy_arp; echo 1 >/proc/sys/net/ipv4/conf/port$i/forwarding"
  # A queue that loses nothing, and a bucket of some ms, as timers may come late on few processors.
  $inside tc qdisc add dev wire root tbf rate "$rate" burst 512k limit 32m
  nsenter -t "$switch" -n tc qdisc add dev "port$i" root tbf rate "$rate" burst 512k limit 32m
  hosts+=("10.77.0.$i:1")
done
printf 'esac\n' >>"$agent"
chmod +x "$agent"
net=10.77.0.0/24
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 WEFT_NUM_THREADS=${WEFT_NUM_THREADS:-1} WEFT_CACHE=${WEFT_CACHE:-}
mpirun -n "$ranks" --host "$(IFS=,; echo "${hosts[*]}")" --bind-to none --quiet -x WEFT_NUM_THREADS -x WEFT_CACHE \
  --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include "$net" --mca oob_tcp_if_include "$net" \
  "$@" {hold}>&-
