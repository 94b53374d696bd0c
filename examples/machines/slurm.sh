#!/bin/bash
#SBATCH --nodes=3 --ntasks-per-node=1 --cpus-per-task=16
# Starts Ray on all machines of the job, runs the lab, and stops Ray.
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun ray symmetric-run --address "$head:6379" --min-nodes "$SLURM_JOB_NUM_NODES" --num-cpus "$SLURM_CPUS_PER_TASK" -- \
    netloom run slurm.yaml --on "$head:6379" --machines "$SLURM_JOB_NUM_NODES"
